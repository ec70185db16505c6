package import Errors

/// The reason why data of an appliance or its cloud was refused, or a request could not be made.
package struct ApplianceError: CodedError, Hashable {
    package typealias Code = ErrorCode<ApplianceError>

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension ErrorCode where Failure == ApplianceError {
    /// The data has the wrong form, or a value outside its bounds.
    package static var malformed: Self { Self("malformed") }
    /// The data exceeds its maximum size.
    package static var tooLarge: Self { Self("too_large") }
    /// The appliance cannot be reached.
    package static var offline: Self { Self("offline") }
    /// The appliance or the state machine is occupied.
    package static var busy: Self { Self("busy") }
    /// There is no such session, record or entry.
    package static var notFound: Self { Self("not_found") }
    /// A bounded queue has no room.
    package static var full: Self { Self("full") }
    /// The operation does not fit the current state.
    package static var wrongState: Self { Self("wrong_state") }
}

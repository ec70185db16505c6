import PikaCore

/// Failure of a request, as the protocol states it.
package struct NodeFailure: Error, Hashable, Sendable {
    /// The origin of a failure.
    package enum Category: String, Sendable {
        /// The request was understood and refused, as a test may expect.
        case expectedRefusal = "expected_refusal"
        /// The request is wrong.
        case request = "protocol"
        /// Something is busy or slow.
        case resource
        /// The machine, the relays or the account.
        case environment
    }

    package let code: String
    package let category: Category
    package let isRetryable: Bool
    package let message: String

    package init(_ code: String, _ category: Category, _ message: String, isRetryable: Bool = false) {
        self.code = code
        self.category = category
        self.isRetryable = isRetryable
        self.message = message
    }

    static func request(_ code: String, _ message: String) -> NodeFailure { NodeFailure(code, .request, message) }

    static let invalidJSON = Self.request("invalid_json", "expected a request object with a known command")
    static let notInitialized = Self.request("not_initialized", "send initialize first")
    static let frameTooLarge = Self.request("frame_too_large", "a request has more than 1048576 bytes")

    /// The failure of an action.
    init(_ error: any Error) {
        switch error {
        case let failure as NodeFailure: self = failure
        case let error as AppCoreError: self.init(error)
        default: self.init("node_environment", .environment, "\(error)")
        }
    }

    private init(_ error: AppCoreError) {
        let known: [AppCoreError.Code: (code: String, category: Category, isRetryable: Bool)] = [
            .unknownChat: ("unknown_group", .request, false), .busy: ("account_worker_busy", .resource, true),
            .noRelay: ("publish_failed", .environment, false), .refused: ("publish_failed", .environment, false),
        ]
        let refusals: Set<AppCoreError.Code> = [.notAllowed, .noKeyPackage, .displaced, .contested, .unknownInvite]
        if let entry = known[error.code] {
            self.init(entry.code, entry.category, "\(error)", isRetryable: entry.isRetryable)
        } else {
            self.init(
                "app_runtime_operation_failed", refusals.contains(error.code) ? .expectedRefusal : .environment,
                "\(error)")
        }
    }
}

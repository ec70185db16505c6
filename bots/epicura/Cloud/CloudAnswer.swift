import Appliance

/// The answer to a request, or the reason why there is none.
enum CloudAnswer: Hashable, Sendable {
    case answered(status: Int, body: [UInt8])
    /// No answer: the outcome is not known.
    case unreachable
    /// There is no session of the account, or the cloud has ended it.
    case signedOut

    /// Whether the server has done what was asked.
    var isSuccess: Bool {
        guard case .answered(let status, _) = self else { return false }
        return (200..<300).contains(status)
    }

    /// The value of a successful answer; nil for every other one, and for a body that is not of this type.
    func value<Value: APIValue>(_ type: Value.Type) -> Value? {
        guard case .answered(let status, let body) = self, (200..<300).contains(status) else { return nil }
        return try? APICoding.decode(type, from: body)
    }

    /// The code of a refusal; nil if the server did not refuse.
    var refusal: String? {
        guard case .answered(let status, let body) = self, (400..<500).contains(status) else { return nil }
        return (try? APICoding.decode(APIProblem.self, from: body))?.code ?? "refused"
    }
}

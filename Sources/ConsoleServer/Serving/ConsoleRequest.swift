/// A request, without the library that has read it.
struct ConsoleRequest: Sendable {
    enum Body: Sendable, Hashable {
        case complete([UInt8])
        case tooLarge, tooSlow
    }

    /// In upper case.
    var method: String
    /// The target as it was sent.
    var target: String
    /// The client's IP address.
    var address = ""
    var headers = RequestRules.Headers(host: nil)
    var cookies: [String] = []
    var authorization: String?
    var contentType: String?
    var ifNoneMatch: String?
    var lastEventID: String?
    /// Reads the body, up to a number of bytes.
    var body: @Sendable (_ limit: Int) async -> Body = { _ in .complete([]) }

    init(_ method: String, _ target: String) {
        self.method = method
        self.target = target
    }

    /// Whether the request changes nothing.
    var isSafe: Bool { method == "GET" || method == "HEAD" }
}

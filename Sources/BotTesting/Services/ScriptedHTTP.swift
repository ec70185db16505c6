public import BotKit
import Synchronization

/// HTTP for tests: a function answers each request, and all requests are recorded.
public final class ScriptedHTTP: BotHTTP {
    /// Answers a request; throws for a request without an answer.
    public typealias Script =
        @Sendable (_ request: BotHTTPRequest, _ number: Int) async throws(BotError) ->
        BotHTTPResponse

    private let script: Script
    private let recorded = Mutex<[BotHTTPRequest]>([])

    /// - Parameter script: Gets the request and its number, from 1.
    public init(_ script: @escaping Script) { self.script = script }

    /// The requests so far, in order.
    public var requests: [BotHTTPRequest] { recorded.withLock { $0 } }

    /// Answers with the script.
    public func send(_ request: BotHTTPRequest) async throws(BotError) -> BotHTTPResponse {
        let number = recorded.withLock { recorded in
            recorded.append(request)
            return recorded.count
        }
        return try await script(request, number)
    }
}

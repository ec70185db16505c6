import AsyncHTTPClient
package import FeedRules
import NIOCore
import NIOHTTP1

/// Requests a document at an interval; each new version is an item.
package struct PollDriver: FeedDriver {
    /// The maximum time of one request in milliseconds.
    private static let limit: Int64 = 60_000

    private let settings: PollSettings

    package init(_ settings: PollSettings) {
        self.settings = settings
    }

    package func run(_ outlet: FeedOutlet) async throws {
        try await FeedHTTP.with(idleTimeout: .seconds(30)) { http in
            var state = try await outlet.position().flatMap { PollState(stored: $0) } ?? PollState()
            while true {
                let current = state
                let answer = try await outlet.clock.within(milliseconds: Self.limit) {
                    try await ask(http, current, limit: outlet.maximumBytes)
                }
                state = try await receive(answer, state, outlet)
                outlet.connected()
                try await outlet.clock.sleep(milliseconds: Int64(settings.every / .milliseconds(1)))
            }
        }
    }

    private struct Answer: Sendable {
        let status: Int
        let entityTag: String?
        let lastModified: String?
        let contentType: String?
        /// The seconds of `Retry-After`; nil if it is absent or a date.
        let wait: Int64?
        /// Nil if the document exceeds the limit.
        let body: [UInt8]?
    }

    private func ask(_ http: FeedHTTP, _ state: PollState, limit: Int) async throws -> Answer {
        let response = try await http.get(settings.url, headers: settings.headers + state.conditions)
        func header(_ name: String) -> String? { response.headers.first(name: name) }
        var body: [UInt8]? = []
        do {
            for try await part in response.body {
                guard (body?.count ?? 0) + part.readableBytes <= limit else {
                    body = nil
                    break
                }
                body?.append(contentsOf: part.readableBytesView)
            }
        } catch { throw FeedHTTP.failure(error) }
        return Answer(
            status: Int(response.status.code), entityTag: header("ETag"), lastModified: header("Last-Modified"),
            contentType: header("Content-Type"), wait: header("Retry-After").flatMap { UInt16($0) }.map { Int64($0) },
            body: body)
    }

    /// Delivers a new version; returns the next state.
    private func receive(_ answer: Answer, _ state: PollState, _ outlet: FeedOutlet) async throws -> PollState {
        guard let body = answer.body else {
            throw FeedError(.tooLarge, "the document exceeds \(outlet.maximumBytes) bytes")
        }
        let outcome = state.receive(
            status: answer.status, entityTag: answer.entityTag, lastModified: answer.lastModified, body: body)
        switch outcome {
        case .unchanged: return state
        case .failed(let reason): throw FeedPause(FeedError(.badAnswer, reason), seconds: answer.wait ?? 0)
        case .changed(let id, let next):
            let type = answer.contentType.flatMap { $0.utf8.count <= 256 ? $0 : nil }
            _ = try await outlet.deliver(outlet.item(id: id, body, contentType: type), position: next.stored)
            return next
        }
    }
}

import AsyncHTTPClient
package import FeedRules
import NIOCore
import NIOHTTP1

/// Reads a stream of server-sent events (WHATWG HTML, section 9.2); each event is an item. The last id is stored with
/// the items, and sent as `Last-Event-ID` when the stream is opened again, also after a restart.
package struct EventStreamDriver: FeedDriver {
    private let settings: StreamSettings

    package init(_ settings: StreamSettings) {
        self.settings = settings
    }

    package func run(_ outlet: FeedOutlet) async throws {
        let lastID = try await outlet.position().map { String(decoding: $0, as: UTF8.self) } ?? ""
        var generator = SystemRandomNumberGenerator()
        let ids = StreamIDs(field: settings.idField, using: &generator)
        try await FeedHTTP.with(idleTimeout: settings.idleTimeout) { http in
            var headers = settings.headers
            headers.append(FeedHeader(name: "Accept", value: "text/event-stream"))
            headers.append(FeedHeader(name: "Cache-Control", value: "no-store"))
            if !lastID.isEmpty { headers.append(FeedHeader(name: "Last-Event-ID", value: lastID)) }
            let response = try await http.get(settings.url, headers: headers)
            try check(response)
            outlet.connected()
            try await read(response, SSEParser(maximumBytes: outlet.maximumBytes, lastID: lastID), ids, outlet)
        }
    }

    private func check(_ response: HTTPClientResponse) throws {
        let wait = response.headers.first(name: "Retry-After").flatMap { UInt16($0) } ?? 0
        guard response.status == .ok else {
            throw FeedPause(FeedError(.badAnswer, "status \(response.status.code)"), seconds: Int64(wait))
        }
        let type = response.headers.first(name: "Content-Type")?.lowercased() ?? ""
        guard type.hasPrefix("text/event-stream") else {
            throw FeedError(.badAnswer, "the response is not text/event-stream")
        }
    }

    private func read(
        _ response: HTTPClientResponse, _ parser: SSEParser, _ ids: StreamIDs, _ outlet: FeedOutlet
    ) async throws {
        var (parser, ids) = (parser, ids)
        var wait: Int64 = 0
        do {
            for try await part in response.body {
                for output in parser.append(part.readableBytesView) {
                    switch output {
                    case .retry(let milliseconds): wait = milliseconds / 1_000
                    case .tooLarge:
                        let limit = outlet.maximumBytes
                        outlet.monitor.note(outlet.feed, FeedError(.tooLarge, "an event exceeds \(limit) bytes"))
                    case .event(let type, let data, let id, let lastID):
                        let payload = Array(data.utf8)
                        let item = outlet.item(id: ids.next(payload, given: id), payload, name: type)
                        _ = try await outlet.deliver(item, position: Array(lastID.utf8))
                    }
                }
            }
        } catch { throw FeedHTTP.failure(error) }
        throw FeedPause(FeedError(.ended, "the server ended the stream"), seconds: wait)
    }
}

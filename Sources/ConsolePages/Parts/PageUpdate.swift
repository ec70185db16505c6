import Foundation

/// A live update of a page: the parts that have changed, or rows to append to a list.
package struct PageUpdate: Sendable, Hashable, Encodable {
    /// Above the number that the page shows; the page drops any other update as stale.
    package var rev: UInt64
    /// Unix seconds.
    package var now: Int64
    /// Markup by the id of its part.
    package private(set) var parts: [String: String] = [:]
    /// Markup by the id of the list that it extends.
    package private(set) var append: [String: String] = [:]

    package init(rev: UInt64, now: Int64, parts: [Page.Part]) {
        self.rev = rev
        self.now = now
        self.parts = Dictionary(parts.map { ($0.id, $0.html.markup) }) { first, _ in first }
    }

    /// An update of the page of logs, whose number is that of its newest line.
    package init(lines: [LogLine], now: Int64) {
        rev = UInt64(clamping: lines.last?.number ?? 0)
        self.now = now
        append = ["log-lines": LogsPage.rows(lines).markup]
    }

    /// The update as a server-sent event (HTML standard §9.2) of the type `update`, whose id is the number.
    package var event: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and integers can always be encoded. JSON escapes line breaks, so that the data is one line.
        guard let json = try? encoder.encode(self) else { return ServerSentEvent.comment }
        return "id: \(rev)\nevent: update\ndata: \(String(decoding: json, as: UTF8.self))\n\n"
    }
}

/// The other events of a page's stream.
package enum ServerSentEvent {
    /// Keeps a quiet connection open.
    package static let comment = ":\n\n"
    /// The milliseconds after which a browser connects again.
    package static let retry = "retry: 5000\n\n"
    /// The session has ended.
    package static let end = "event: end\ndata: {}\n\n"
    /// The session has too many streams.
    package static let full = "event: full\ndata: {}\n\n"
}

/// Parser of server-sent events, in bounded memory (WHATWG HTML, section 9.2.6 "Interpreting an event stream").
package struct SSEParser: Sendable {
    package enum Output: Sendable, Hashable {
        /// An event: its type (`message` by default), its data, its own id if it has one, and the last id that the stream
        /// has set.
        case event(type: String, data: String, id: String?, lastID: String)
        /// The server sets the wait before a reconnection, in milliseconds.
        case retry(milliseconds: Int64)
        /// An event with more data than the limit was dropped.
        case tooLarge
    }

    /// The maximum length of a field besides `data`.
    private static let maximumFieldBytes = 1_024

    private let maximumBytes: Int
    private var line: [UInt8] = []
    /// The rest of the line is discarded.
    private var isLineTooLong = false
    private var skipsLineFeed = false
    private var isFirstLine = true
    private var data: [UInt8] = []
    private var hasData = false
    private var type = ""
    private var ownID: String?
    private var isTooLarge = false
    /// The last event id, which a client sends when it reconnects.
    package private(set) var lastID: String

    /// - Parameters:
    ///   - maximumBytes: The maximum number of bytes of an event's data.
    ///   - lastID: The last id of an earlier connection.
    package init(maximumBytes: Int, lastID: String = "") {
        self.maximumBytes = max(0, maximumBytes)
        self.lastID = lastID
    }

    /// Appends bytes, split anywhere, and returns what they complete.
    package mutating func append(_ bytes: some Collection<UInt8>) -> [Output] {
        var outputs: [Output] = []
        for byte in bytes {
            if skipsLineFeed {
                skipsLineFeed = false
                if byte == UInt8(ascii: "\n") { continue }
            }
            switch byte {
            case UInt8(ascii: "\r"):
                skipsLineFeed = true
                endLine(&outputs)
            case UInt8(ascii: "\n"): endLine(&outputs)
            default: extend(byte)
            }
        }
        return outputs
    }

    private mutating func extend(_ byte: UInt8) {
        guard !isLineTooLong else { return }
        // `data: ` and a byte order mark before it.
        guard line.count < max(maximumBytes, Self.maximumFieldBytes) + 9 else {
            isLineTooLong = true
            return
        }
        line.append(byte)
    }

    private mutating func endLine(_ outputs: inout [Output]) {
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        if isLineTooLong {
            // Only data can be that long; other fields are ignored.
            if line.starts(with: Array("data".utf8)) { isTooLarge = true }
        } else if line.isEmpty {
            dispatch(&outputs)
        } else {
            read(line[...], &outputs)
        }
        line.removeAll(keepingCapacity: true)
        isLineTooLong = false
    }

    private mutating func read(_ line: ArraySlice<UInt8>, _ outputs: inout [Output]) {
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        // A line that begins with a colon is a comment.
        guard colon != line.startIndex else { return }
        let name = String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self)
        var value = colon.map { line[line.index(after: $0)...] } ?? []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch name {
        case "data":
            let separator = hasData ? 1 : 0
            guard data.count + separator + value.count <= maximumBytes else {
                isTooLarge = true
                return
            }
            if hasData { data.append(UInt8(ascii: "\n")) }
            data.append(contentsOf: value)
            hasData = true
        case "event" where value.count <= Self.maximumFieldBytes: type = String(decoding: value, as: UTF8.self)
        case "id" where value.count <= Self.maximumFieldBytes && !value.contains(0):
            lastID = String(decoding: value, as: UTF8.self)
            ownID = lastID.isEmpty ? nil : lastID
        case "retry":
            let digits = value.allSatisfy { (0x30...0x39).contains($0) }
            guard digits, !value.isEmpty, let wait = Int64(String(decoding: value, as: UTF8.self)) else { return }
            outputs.append(.retry(milliseconds: wait))
        default: break
        }
    }

    private mutating func dispatch(_ outputs: inout [Output]) {
        defer {
            data = []
            hasData = false
            type = ""
            ownID = nil
            isTooLarge = false
        }
        if isTooLarge { return outputs.append(.tooLarge) }
        guard hasData else { return }
        outputs.append(
            .event(
                type: type.isEmpty ? "message" : type, data: String(decoding: data, as: UTF8.self), id: ownID,
                lastID: lastID))
    }
}

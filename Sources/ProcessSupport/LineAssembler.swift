/// Splits a byte stream into lines at LF, in bounded memory.
package struct LineAssembler: Sendable {
    /// Treatment of a line longer than the limit.
    package enum Overlong: Hashable, Sendable {
        /// Its bytes are discarded, and it is reported as soon as it exceeds the limit.
        case discarded
        /// Its first bytes, as many as the limit, are kept, and it is reported when it ends.
        case truncated
    }

    package enum Piece: Hashable, Sendable {
        /// A line without its LF.
        case line([UInt8])
        /// A line longer than the limit: its first bytes, or none if they are discarded.
        case tooLong([UInt8])
    }

    private let limit: Int
    private let overlong: Overlong
    private var line: [UInt8] = []
    private var isTooLong = false

    /// - Parameter limit: maximum number of bytes of a line, without its LF.
    package init(limit: Int, overlong: Overlong = .discarded) {
        self.limit = limit
        self.overlong = overlong
    }

    /// Appends bytes and calls `body` for each line that they complete.
    package mutating func append(_ bytes: some Collection<UInt8>, _ body: (Piece) -> Void) {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            extend(rest[..<end], body)
            terminate(body)
            rest = rest[end...].dropFirst()
        }
        extend(rest, body)
    }

    /// Calls `body` with the unterminated last line, at the end of the input; an empty one is not a line.
    package mutating func finish(_ body: (Piece) -> Void) {
        guard !line.isEmpty || isTooLong else { return }
        terminate(body)
    }

    private mutating func extend(_ part: some Collection<UInt8>, _ body: (Piece) -> Void) {
        guard !isTooLong else { return }
        let room = limit - line.count
        guard part.count > room else { return line.append(contentsOf: part) }
        isTooLong = true
        switch overlong {
        case .discarded:
            line = []
            body(.tooLong([]))
        case .truncated: line.append(contentsOf: part.prefix(room))
        }
    }

    private mutating func terminate(_ body: (Piece) -> Void) {
        if !isTooLong {
            body(.line(line))
        } else if overlong == .truncated {
            body(.tooLong(line))
        }
        line = []
        isTooLong = false
    }
}

extension LineAssembler.Piece {
    /// The bytes as UTF-8, without a CR at their end; invalid bytes are replaced.
    package var text: String {
        switch self {
        case .line(let bytes), .tooLong(let bytes):
            String(decoding: bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes[...], as: UTF8.self)
        }
    }
}

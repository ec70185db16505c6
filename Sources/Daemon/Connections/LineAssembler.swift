/// Splits a byte stream into lines. An overlong line is reported once and skipped to its end.
package struct LineAssembler: Sendable {
    package enum Piece: Hashable, Sendable {
        case line(String)
        /// A line longer than the limit; its bytes were discarded.
        case tooLong
    }

    private let limit: Int
    private var rest: [UInt8] = []
    private var isSkipping = false

    /// - Parameter limit: most bytes of a line, without its line ending.
    package init(limit: Int) {
        self.limit = limit
    }

    /// Appends bytes and calls `body` for each line that they complete. Invalid UTF-8 is replaced.
    package mutating func take(_ bytes: some Sequence<UInt8>, _ body: (Piece) -> Void) {
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if !self.isSkipping { body(.line(String(decoding: self.rest, as: UTF8.self))) }
                self.rest.removeAll(keepingCapacity: self.rest.capacity < 65_536)
                self.isSkipping = false
            } else if !self.isSkipping {
                self.rest.append(byte)
                guard self.rest.count > self.limit else { continue }
                self.rest = []
                self.isSkipping = true
                body(.tooLong)
            }
        }
    }

    /// Calls `body` with the unterminated last line, at the end of the input.
    package mutating func finish(_ body: (Piece) -> Void) {
        if !self.rest.isEmpty { body(.line(String(decoding: self.rest, as: UTF8.self))) }
        self.rest = []
    }
}

/// Cursor over JSON text (RFC 8259), shared by the typed readers.
///
/// It is strict where leniency would let two programs read one text differently: no trailing bytes, no lone surrogates,
/// no raw control characters, no invalid UTF-8, no leading zeros, integers exact or refused. Of a repeated member the
/// first counts. Members unknown to the typed readers are checked for syntax and skipped.
struct JSONReader {
    let input: UnsafeBufferPointer<UInt8>
    var position = 0
    private var depth = 0
    private var atFirst = false

    init(_ input: UnsafeBufferPointer<UInt8>) { self.input = input }

    /// Reads one complete text; `body` must consume all of it except trailing white space. Inlined, so that the type of the
    /// value is known where it runs.
    @inline(__always)
    static func read<Value>(
        _ json: some Collection<UInt8>, _ body: (inout JSONReader) throws(NostrError) -> Value
    ) throws(NostrError) -> Value {
        func run(_ input: UnsafeBufferPointer<UInt8>) -> Result<Value, NostrError> {
            Result { () throws(NostrError) -> Value in
                var reader = JSONReader(input)
                let value = try body(&reader)
                try reader.finish()
                return value
            }
        }
        let result = json.withContiguousStorageIfAvailable(run) ?? Array(json).withUnsafeBufferPointer(run)
        return try result.get()
    }

    /// Returns the next byte that is not white space, without consuming it.
    mutating func peek() throws(NostrError) -> UInt8 {
        while position < input.count {
            let byte = input[position]
            guard byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 else { return byte }
            position += 1
        }
        throw truncated
    }

    mutating func expect(_ byte: UInt8) throws(NostrError) {
        guard try peek() == byte else { throw malformed("expected \(Character(UnicodeScalar(byte)))") }
        position += 1
    }

    private func finish() throws(NostrError) {
        var rest = self
        guard (try? rest.peek()) == nil else { throw malformed("unexpected bytes after the end") }
    }
}

/// Arrays and objects: enter, then read elements until there are none left.
extension JSONReader {
    mutating func enterArray() throws(NostrError) { try enter(UInt8(ascii: "["), "an array") }
    mutating func enterObject() throws(NostrError) { try enter(UInt8(ascii: "{"), "an object") }

    /// Returns true if an element follows, which the caller must then read or skip; false once the array has ended.
    mutating func nextElement() throws(NostrError) -> Bool { try next(UInt8(ascii: "]")) }

    /// Returns the next member's name, whose value the caller must then read or skip; nil once the object has ended.
    mutating func nextMember() throws(NostrError) -> String? {
        guard try next(UInt8(ascii: "}")) else { return nil }
        guard try peek() == UInt8(ascii: "\"") else { throw malformed("expected a member name") }
        let name = try string()
        try expect(UInt8(ascii: ":"))
        return name
    }

    private mutating func enter(_ open: UInt8, _ what: String) throws(NostrError) {
        guard try peek() == open else { throw unexpected(what) }
        guard depth < JSONValue.maximumDepth else {
            throw NostrError(.jsonTooDeep, "JSON nested deeper than \(JSONValue.maximumDepth)")
        }
        position += 1
        depth += 1
        atFirst = true
    }

    private mutating func next(_ close: UInt8) throws(NostrError) -> Bool {
        let byte = try peek()
        if byte == close {
            position += 1
            depth -= 1
            atFirst = false
            return false
        }
        if atFirst {
            atFirst = false
            return true
        }
        guard byte == UInt8(ascii: ",") else { throw malformed("expected a comma") }
        position += 1
        guard try peek() != close else { throw malformed("unexpected trailing comma") }
        return true
    }
}

extension JSONReader {
    /// Skips the next value after checking its syntax.
    mutating func skip() throws(NostrError) {
        switch try peek() {
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "["):
            try enterArray()
            while try nextElement() { try skip() }
        case UInt8(ascii: "{"):
            try enterObject()
            while try nextMember() != nil { try skip() }
        case UInt8(ascii: "-"), 0x30...0x39: _ = try numberText()
        default: _ = try literal()
        }
    }

    /// Reads `true` or `false`; nil for `null`.
    mutating func literal() throws(NostrError) -> Bool? {
        switch try peek() {
        case UInt8(ascii: "t"): try word("true"); return true
        case UInt8(ascii: "f"): try word("false"); return false
        case UInt8(ascii: "n"): try word("null"); return nil
        default: throw malformed("expected a value")
        }
    }

    mutating func bool() throws(NostrError) -> Bool {
        let byte = try peek()
        guard byte == UInt8(ascii: "t") || byte == UInt8(ascii: "f"), let value = try literal() else {
            throw unexpected("true or false")
        }
        return value
    }

    private mutating func word(_ text: StaticString) throws(NostrError) {
        for offset in 0..<text.utf8CodeUnitCount {
            guard position < input.count else { throw truncated }
            guard input[position] == text.utf8Start[offset] else { throw malformed("expected \(text)") }
            position += 1
        }
    }

    var truncated: NostrError { NostrError(.truncatedJSON, "the JSON is truncated after \(input.count) bytes") }

    func malformed(_ what: String) -> NostrError { NostrError(.malformedJSON, "\(what) at byte \(position)") }

    /// Returns the error for a next value of the wrong type, or for malformed JSON if no value starts there.
    func unexpected(_ what: String) -> NostrError {
        let starts = "\"[{-0123456789tfn".utf8
        guard position < input.count, starts.contains(input[position]) else { return malformed("expected \(what)") }
        return NostrError(.unexpectedType, "expected \(what) at byte \(position)")
    }
}

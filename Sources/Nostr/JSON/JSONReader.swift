/// A cursor over JSON text (RFC 8259) that the typed readers share.
///
/// Strict where leniency would let two programs read one text differently: no trailing bytes, no lone surrogates,
/// no raw control characters, no invalid UTF-8, no leading zeros, integers exact or refused. Of a repeated member
/// the first counts; what the typed readers do not know is checked for form and skipped.
struct JSONReader {
    let input: UnsafeBufferPointer<UInt8>
    var position = 0
    private var depth = 0
    private var atFirst = false

    init(_ input: UnsafeBufferPointer<UInt8>) { self.input = input }

    /// Reads one whole text: `body` must consume it all but trailing white space.
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

    /// The next byte that is not white space, not consumed.
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
        guard (try? rest.peek()) == nil else { throw malformed("bytes after the end") }
    }
}

/// Arrays and objects: enter, then ask for the next until there is none.
extension JSONReader {
    mutating func enterArray() throws(NostrError) { try enter(UInt8(ascii: "["), "an array") }
    mutating func enterObject() throws(NostrError) { try enter(UInt8(ascii: "{"), "an object") }

    /// True if an element follows, which the caller must then read or skip; false once the array is left.
    mutating func nextElement() throws(NostrError) -> Bool { try next(UInt8(ascii: "]")) }

    /// The name of the next member, whose value the caller must then read or skip; nil once the object is left.
    mutating func nextMember() throws(NostrError) -> String? {
        guard try next(UInt8(ascii: "}")) else { return nil }
        guard try peek() == UInt8(ascii: "\"") else { throw malformed("expected the name of a member") }
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
        guard try peek() != close else { throw malformed("a comma before the end") }
        return true
    }
}

extension JSONReader {
    /// Checks the form of the next value and passes it by.
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

    /// `true`, `false`, or nil for `null`.
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

    var truncated: NostrError { NostrError(.truncatedJSON, "the JSON ends in the middle, after \(input.count) bytes") }

    func malformed(_ what: String) -> NostrError { NostrError(.malformedJSON, "\(what) at byte \(position)") }

    /// The next value is sound so far and of another type, or no value at all.
    func unexpected(_ what: String) -> NostrError {
        let starts = "\"[{-0123456789tfn".utf8
        guard position < input.count, starts.contains(input[position]) else { return malformed("expected \(what)") }
        return NostrError(.unexpectedType, "expected \(what) at byte \(position)")
    }
}

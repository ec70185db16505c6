extension JSONReader {
    /// Reads an integer without fraction or exponent; throws `NostrError.Code.numberOutOfRange` if it does not fit.
    mutating func integer() throws(NostrError) -> Int64 {
        let first = try peek()
        guard first == UInt8(ascii: "-") || (0x30...0x39).contains(first) else { throw unexpected("an integer") }
        let start = position
        let negative = first == UInt8(ascii: "-")
        if negative { position += 1 }
        // Accumulate as a negative number, because Int64's lowest value has no positive counterpart.
        var value: Int64 = 0
        var overflow = false
        let digits = try scanDigits { digit in
            let (tenfold, first) = value.multipliedReportingOverflow(by: 10)
            let (sum, second) = tenfold.subtractingReportingOverflow(Int64(digit))
            overflow = overflow || first || second
            value = sum
        }
        try checkLeadingZero(start: start + (negative ? 1 : 0), digits: digits)
        if position < input.count {
            let byte = input[position]
            guard byte != UInt8(ascii: "."), byte != UInt8(ascii: "e"), byte != UInt8(ascii: "E") else {
                position = start
                _ = try numberText()
                throw NostrError(.unexpectedType, "expected an integer at byte \(start)")
            }
        }
        if negative {
            guard !overflow else { throw outOfRange(start) }
            return value
        }
        guard !overflow, value != .min else { throw outOfRange(start) }
        return -value
    }

    /// Reads an integer that fits `Value`.
    mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws(NostrError) -> Value {
        let start = position
        guard let value = Value(exactly: try integer()) else { throw outOfRange(start) }
        return value
    }

    /// Reads the text of a number and checks it against the grammar of RFC 8259 §6.
    mutating func numberText() throws(NostrError) -> (text: String, isInteger: Bool) {
        let start = position
        if try peek() == UInt8(ascii: "-") { position += 1 }
        let whole = position
        try checkLeadingZero(start: whole, digits: try scanDigits { _ in })
        var isInteger = true
        if position < input.count, input[position] == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            _ = try scanDigits { _ in }
        }
        if position < input.count, input[position] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            position += 1
            if position < input.count, input[position] == UInt8(ascii: "+") || input[position] == UInt8(ascii: "-") {
                position += 1
            }
            _ = try scanDigits { _ in }
        }
        return (String(decoding: UnsafeBufferPointer(rebasing: input[start..<position]), as: UTF8.self), isInteger)
    }

    func outOfRange(_ start: Int) -> NostrError {
        NostrError(.numberOutOfRange, "the number at byte \(start) does not fit its field")
    }

    @inline(__always)
    private mutating func scanDigits(_ each: (UInt8) -> Void) throws(NostrError) -> Int {
        let start = position
        while position < input.count, (0x30...0x39).contains(input[position]) {
            each(input[position] &- 0x30)
            position += 1
        }
        guard position > start else {
            if position == input.count { throw truncated }
            throw malformed("expected a digit")
        }
        return position - start
    }

    private func checkLeadingZero(start: Int, digits: Int) throws(NostrError) {
        guard digits == 1 || input[start] != 0x30 else { throw malformed("unexpected leading zero") }
    }
}

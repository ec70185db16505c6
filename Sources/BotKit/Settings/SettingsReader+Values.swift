/// Typed values. An invalid value is recorded as a problem and read as if it were missing, so a bot can read on and
/// report everything in ``finish()``. A missing value is a problem only if it is required.
extension SettingsReader {
    /// Reads a non-empty string; a number or a Boolean is converted. Nil if absent.
    public func string(_ key: String, required: Bool = false) -> String? {
        parsed(key, expected: "a string", fix: "write \(key): TEXT", required: required) { value in
            switch value {
            case .string(let text): text.isEmpty ? nil : text
            case .int(let number): "\(number)"
            case .double(let number): "\(number)"
            case .bool(let truth): "\(truth)"
            case .null, .array, .object: nil
            }
        }
    }

    /// Reads a string that is not empty; the default if absent.
    public func string(_ key: String, default standard: String) -> String { string(key) ?? standard }

    /// Reads `true` or `false`; nil if absent.
    public func bool(_ key: String, required: Bool = false) -> Bool? {
        parsed(
            key, expected: "true or false", fix: "write \(key): true or \(key): false", required: required, \.boolValue)
    }

    /// Reads `true` or `false`; the default if absent.
    public func bool(_ key: String, default standard: Bool) -> Bool { bool(key) ?? standard }

    /// Reads a whole number in a range, by default 0 or more; nil if absent.
    public func int(_ key: String, in range: ClosedRange<Int> = 0...Int.max, required: Bool = false) -> Int? {
        let expected =
            range.upperBound == .max
            ? "a whole number of at least \(range.lowerBound)"
            : "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return parsed(key, expected: expected, fix: "write a number in this range", required: required) { value in
            value.intValue.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Reads a whole number in a range, by default 0 or more; the default if absent.
    public func int(_ key: String, in range: ClosedRange<Int> = 0...Int.max, default standard: Int) -> Int {
        int(key, in: range) ?? standard
    }

    /// Reads a number in a range, whole or not; nil if absent.
    public func double(_ key: String, in range: ClosedRange<Double>, required: Bool = false) -> Double? {
        parsed(
            key, expected: "a number from \(range.lowerBound) to \(range.upperBound)",
            fix: "write a number in this range",
            required: required
        ) { value in value.doubleValue.flatMap { range.contains($0) ? $0 : nil } }
    }

    /// Reads a duration such as `250ms`, `10s`, `5m`, `1h` or `1d`, above zero and at most ten years; nil if there is
    /// none.
    public func duration(_ key: String, required: Bool = false) -> Duration? {
        guard let value = value(key, required: required) else { return nil }
        do throws(DurationFault) {
            guard let text = value.stringValue else { throw DurationFault.malformed }
            return try Duration(settingText: text)
        } catch {
            fail(key, expected: error.expected, fix: error.fix)
            return nil
        }
    }

    /// Reads a duration above zero; the default if absent.
    public func duration(_ key: String, default standard: Duration) -> Duration { duration(key) ?? standard }

    /// Reads a case of an enumeration by its raw value; nil if absent.
    public func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, of type: Choice.Type, required: Bool = false
    ) -> Choice? where Choice.RawValue == String {
        guard let value = value(key, required: required) else { return nil }
        if let choice = value.stringValue.flatMap(Choice.init(rawValue:)) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        let nearest = value.stringValue.flatMap { nearestName(to: $0, in: names) }
        fail(
            key, expected: names.count == 1 ? names[0] : "one of \(names.joined(separator: ", "))",
            fix: nearest.map { "write \($0)" } ?? "write one of them")
        return nil
    }

    /// Reads a case of an enumeration by its raw value; the default if absent.
    public func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, default standard: Choice
    ) -> Choice where Choice.RawValue == String {
        choice(key, of: Choice.self) ?? standard
    }

    /// Reads a list of strings; nil if absent.
    public func strings(_ key: String, required: Bool = false) -> [String]? {
        values(key, of: "strings", required: required) { value in
            value.stringValue.flatMap { $0.isEmpty ? nil : $0 } ?? value.intValue.map { "\($0)" }
        }
    }

    /// Reads a public key, as npub or 64 hexadecimal digits; nil if absent.
    public func publicKey(_ key: String, required: Bool = false) -> PublicKey? {
        parsed(key, expected: "a public key", fix: "write an npub", required: required) { value in
            value.stringValue.flatMap { try? PublicKey(parsing: $0) }
        }
    }

    /// Reads a list of public keys; nil if absent.
    public func publicKeys(_ key: String, required: Bool = false) -> [PublicKey]? {
        values(key, of: "public keys", required: required) { $0.stringValue.flatMap { try? PublicKey(parsing: $0) } }
    }
}

/// Host of a ``WebURL``: domain, IPv4 or IPv6 address (WHATWG URL standard, "host parsing").
enum URLHost {
    /// Returns the serialised host; nil if it is malformed. A domain with characters outside ASCII is checked roughly and
    /// returned as given, because its ASCII form needs the tables of Unicode TS 46.
    static func parse(_ bytes: ArraySlice<UInt8>) -> String? {
        if bytes.first == UInt8(ascii: "[") {
            guard bytes.last == UInt8(ascii: "]"), let address = IPv6.parse(Array(bytes.dropFirst().dropLast())) else {
                return nil
            }
            return "[" + IPv6.text(address) + "]"
        }
        guard let domain = String(validating: self.percentDecoded(bytes), as: UTF8.self), !domain.isEmpty else {
            return nil
        }
        guard domain.utf8.allSatisfy({ $0 < 0x80 }) else { return self.isPlausible(domain) ? domain : nil }
        let host = domain.lowercased()
        guard !host.utf8.contains(where: self.isForbidden),
            host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy(self.isValidLabel)
        else { return nil }
        return self.endsInNumber(host) ? self.ipv4(host) : host
    }

    private static func percentDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var decoded: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = self.digit(rest.first),
                let low = self.digit(rest.dropFirst().first)
            {
                decoded.append(high << 4 | low)
                rest.removeFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        switch byte {
        case let byte? where (0x30...0x39).contains(byte): byte - 0x30
        case let byte? where (0x61...0x66).contains(byte | 0x20): (byte | 0x20) - 0x57
        default: nil
        }
    }

    private static func isForbidden(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == 0x7F || "#%/:<>?@[\\]^|".utf8.contains(byte)
    }

    private static func isPlausible(_ domain: String) -> Bool {
        domain.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII ? !self.isForbidden(UInt8(scalar.value)) : self.mayBeInLabel(scalar)
        }
    }

    private static func mayBeInLabel(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .spaceSeparator, .lineSeparator,
            .paragraphSeparator:
            false
        default: true
        }
    }

    // MARK: Punycode (RFC 3492)

    /// Returns false for a label that starts with `xn--` without encoding a label outside ASCII.
    private static func isValidLabel(_ label: Substring) -> Bool {
        guard label.hasPrefix("xn--") else { return true }
        guard let scalars = self.punycodeDecoded(Array(label.utf8.dropFirst(4))) else { return false }
        guard scalars.contains(where: { !$0.isASCII }), let first = scalars.first else { return false }
        switch first.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: return false
        default:
            return scalars.allSatisfy {
                $0.isASCII || self.mayBeInLabel($0) && $0.properties.lowercaseMapping == String(Character($0))
            }
        }
    }

    private static func punycodeDecoded(_ bytes: [UInt8]) -> [Unicode.Scalar]? {
        let delimiter = bytes.lastIndex(of: UInt8(ascii: "-"))
        var output = bytes[..<(delimiter ?? 0)].map { UInt32($0) }
        var rest = bytes[(delimiter.map { $0 + 1 } ?? 0)...]
        var (number, index, bias) = (UInt32(128), UInt32(0), UInt32(72))
        // No domain is longer than this, and the insertions below take quadratic time.
        guard bytes.count <= 256 else { return nil }
        while !rest.isEmpty {
            let start = index
            var (weight, position) = (UInt32(1), UInt32(36))
            while true {
                guard let byte = rest.popFirst(), let digit = self.punycodeDigit(byte) else { return nil }
                let (step, overflow) = digit.multipliedReportingOverflow(by: weight)
                let (next, carried) = index.addingReportingOverflow(step)
                guard !overflow, !carried else { return nil }
                index = next
                let threshold = position <= bias ? 1 : min(26, position - bias)
                if digit < threshold { break }
                let (product, tooLarge) = weight.multipliedReportingOverflow(by: 36 - threshold)
                guard !tooLarge else { return nil }
                weight = product
                position += 36
            }
            let count = UInt32(output.count) + 1
            bias = self.adapted(index - start, count, isFirst: start == 0)
            let (sum, overflow) = number.addingReportingOverflow(index / count)
            guard !overflow else { return nil }
            number = sum
            index %= count
            output.insert(number, at: Int(index))
            index += 1
        }
        let scalars = output.compactMap { Unicode.Scalar($0) }
        return scalars.count == output.count ? scalars : nil
    }

    private static func punycodeDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case 0x61...0x7A: UInt32(byte - 0x61)
        case 0x30...0x39: UInt32(byte - 0x30) + 26
        default: nil
        }
    }

    private static func adapted(_ delta: UInt32, _ count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var position: UInt32 = 0
        while delta > 455 {
            delta /= 35
            position += 36
        }
        return position + 36 * delta / (delta + 38)
    }

    // MARK: IPv4

    private static func endsInNumber(_ host: String) -> Bool {
        var labels = host.split(separator: ".", omittingEmptySubsequences: false)
        if labels.last?.isEmpty == true { labels.removeLast() }
        guard let last = labels.last, !last.isEmpty else { return false }
        return last.utf8.allSatisfy { (0x30...0x39).contains($0) } || self.number(last) != .invalid
    }

    private enum Number: Equatable {
        case value(UInt32), tooLarge, invalid
    }

    /// Parses a decimal, octal (`0…`) or hexadecimal (`0x…`) number.
    private static func number(_ text: Substring) -> Number {
        guard !text.isEmpty else { return .invalid }
        let (digits, radix) =
            text.hasPrefix("0x")
            ? (text.dropFirst(2), 16)
            : text.hasPrefix("0") && text.utf8.count > 1 ? (text.dropFirst(), 8) : (text, 10)
        guard !digits.isEmpty else { return .value(0) }
        let allowed = Set("0123456789abcdef".utf8.prefix(radix))
        guard digits.utf8.allSatisfy(allowed.contains) else { return .invalid }
        return UInt32(digits, radix: radix).map(Number.value) ?? .tooLarge
    }

    private static func ipv4(_ host: String) -> String? {
        var labels = host.split(separator: ".", omittingEmptySubsequences: false)
        if labels.last?.isEmpty == true { labels.removeLast() }
        guard labels.count <= 4 else { return nil }
        var numbers: [UInt32] = []
        for label in labels {
            guard case .value(let number) = self.number(label) else { return nil }
            numbers.append(number)
        }
        guard let last = numbers.popLast(), numbers.allSatisfy({ $0 <= 255 }),
            last <= UInt32.max >> UInt32(8 * numbers.count)
        else { return nil }
        var address = last
        for (position, number) in numbers.enumerated() { address |= number << UInt32(8 * (3 - position)) }
        return [24, 16, 8, 0].map { String(address >> UInt32($0) & 0xFF) }.joined(separator: ".")
    }
}

/// Parsing and serialisation of IPv6 addresses (WHATWG URL standard).
private enum IPv6 {
    /// Returns eight groups; nil if the text is not an address.
    static func parse(_ address: [UInt8]) -> [UInt16]? {
        let text = String(decoding: address, as: UTF8.self).lowercased()
        guard text.utf8.allSatisfy({ "0123456789abcdef:.".utf8.contains($0) }) else { return nil }
        let bytes = Array(text.utf8)
        guard let gap = self.gap(bytes) else {
            guard let groups = self.groups(bytes[...], allowsIPv4: true), groups.count == 8 else { return nil }
            return groups
        }
        guard let before = self.groups(bytes[..<gap], allowsIPv4: false),
            let after = self.groups(bytes[(gap + 2)...], allowsIPv4: true), before.count + after.count < 8
        else { return nil }
        return before + [UInt16](repeating: 0, count: 8 - before.count - after.count) + after
    }

    /// Returns the position of the first `::`.
    private static func gap(_ bytes: [UInt8]) -> Int? {
        let colon = UInt8(ascii: ":")
        return bytes.indices.dropLast().first { bytes[$0] == colon && bytes[$0 + 1] == colon }
    }

    private static func groups(_ bytes: ArraySlice<UInt8>, allowsIPv4: Bool) -> [UInt16]? {
        guard !bytes.isEmpty else { return [] }
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        var groups: [UInt16] = []
        for (position, part) in parts.enumerated() {
            if part.contains(UInt8(ascii: ".")) {
                guard allowsIPv4, position == parts.count - 1, let pair = self.ipv4(part) else { return nil }
                groups += pair
            } else {
                guard (1...4).contains(part.count), let group = UInt16(String(decoding: part, as: UTF8.self), radix: 16)
                else { return nil }
                groups.append(group)
            }
        }
        return groups
    }

    /// Parses four decimal numbers without leading zeros into two groups.
    private static func ipv4(_ bytes: ArraySlice<UInt8>) -> [UInt16]? {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var numbers: [UInt16] = []
        for part in parts {
            let text = String(decoding: part, as: UTF8.self)
            guard let number = UInt8(text), String(number) == text else { return nil }
            numbers.append(UInt16(number))
        }
        return [numbers[0] << 8 | numbers[1], numbers[2] << 8 | numbers[3]]
    }

    /// Returns the groups in hexadecimal, with the first longest run of two or more zeros as `::`.
    static func text(_ groups: [UInt16]) -> String {
        var longest = 0..<0
        var start = 0
        while start < groups.count {
            var end = start
            while end < groups.count, groups[end] == 0 { end += 1 }
            if end - start > max(1, longest.count) { longest = start..<end }
            start = end + 1
        }
        func joined(_ groups: ArraySlice<UInt16>) -> String {
            groups.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard !longest.isEmpty else { return joined(groups[...]) }
        return joined(groups[..<longest.lowerBound]) + "::" + joined(groups[longest.upperBound...])
    }
}

import Nostr

/// The fields of a command, read as strictly as the pikachat daemon reads them.
struct CommandFields {
    private let object: JSONObject

    init(_ object: JSONObject) {
        self.object = object
    }

    func text(_ name: String) throws(DaemonFailure) -> String {
        guard let value = try self.optionalText(name) else { throw Self.missing(name) }
        return value
    }

    /// Null counts as absent.
    func optionalText(_ name: String) throws(DaemonFailure) -> String? {
        switch self.object[name] {
        case nil, .null?: return nil
        case .string(let value)?: return value
        default: throw Self.wrong(name, "a string")
        }
    }

    func text(_ name: String, default value: String) throws(DaemonFailure) -> String {
        guard let field = self.object[name] else { return value }
        guard let text = field.string else { throw Self.wrong(name, "a string") }
        return text
    }

    func texts(_ name: String) throws(DaemonFailure) -> [String] {
        guard self.object[name] != nil else { throw Self.missing(name) }
        return try self.texts(name, default: [])
    }

    func texts(_ name: String, default value: [String]) throws(DaemonFailure) -> [String] {
        guard let field = self.object[name] else { return value }
        guard let elements = field.array else { throw Self.wrong(name, "a list of strings") }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else { throw Self.wrong(name, "a list of strings") }
        return texts
    }

    func has(_ name: String) -> Bool { self.object[name] != nil }

    /// Returns the place of a message, an object with its `created_at` and `message_id`.
    func place(_ name: String) throws(DaemonFailure) -> DaemonCommand.Place? {
        guard let value = self.object[name], value != .null else { return nil }
        guard let createdAt = value["created_at"]?.integer, let id = value["message_id"]?.string else {
            throw Self.wrong(name, "an object with created_at and message_id, as get_messages returns them")
        }
        return DaemonCommand.Place(createdAt: createdAt, messageID: id)
    }

    func table(_ name: String) throws(DaemonFailure) -> [String: String] {
        guard let field = self.object[name] else { return [:] }
        guard let members = field.object?.members else { throw Self.wrong(name, "an object whose values are strings") }
        var table: [String: String] = [:]
        for member in members {
            guard let text = member.value.string else { throw Self.wrong(name, "an object whose values are strings") }
            table[member.name] = text
        }
        return table
    }

    func number<Number: FixedWidthInteger>(
        _ name: String, _ type: Number.Type = Number.self
    ) throws(DaemonFailure) -> Number {
        guard let field = self.object[name] else { throw Self.missing(name) }
        guard let value = field.integer.flatMap({ Number(exactly: $0) }) else {
            throw Self.wrong(name, "an integer from \(Number.min) to \(Number.max)")
        }
        return value
    }

    func number<Number: FixedWidthInteger>(_ name: String, default value: Number) throws(DaemonFailure) -> Number {
        self.object[name] == nil ? value : try self.number(name)
    }

    func optionalNumber(_ name: String) throws(DaemonFailure) -> Int64? {
        switch self.object[name] {
        case nil, .null?: nil
        default: try self.number(name)
        }
    }

    func requiredFlag(_ name: String) throws(DaemonFailure) -> Bool {
        guard self.object[name] != nil else { throw Self.missing(name) }
        guard let value = self.object[name]?.bool else { throw Self.wrong(name, "true or false") }
        return value
    }

    func flag(_ name: String) throws(DaemonFailure) -> Bool { try self.optionalFlag(name) ?? false }

    func optionalFlag(_ name: String) throws(DaemonFailure) -> Bool? {
        switch self.object[name] {
        case nil, .null?: return nil
        case .bool(let value)?: return value
        default: throw Self.wrong(name, "true or false")
        }
    }

    private static func missing(_ name: String) -> DaemonFailure {
        DaemonFailure(.parseError, "missing field `\(name)`")
    }

    private static func wrong(_ name: String, _ expected: String) -> DaemonFailure {
        DaemonFailure(.parseError, "field `\(name)` must be \(expected)")
    }
}

/// Reads a bot's own settings, field by field, and collects what is wrong, so that all of it can be said at once.
///
/// ```swift
/// init(settings: BotSettings) throws {
///     let reader = SettingsReader(settings)
///     greeting = reader.string("greeting", default: "hello")
///     patience = reader.duration("patience", default: .seconds(30))
///     rules = reader.list("rules") { Rule($0) }
///     try reader.finish()
/// }
/// ```
///
/// Keys that were never asked for are unknown, and problems. One reader is for one task.
public final class SettingsReader {
    private final class Problems {
        var all: [BotSettingsError.Problem] = []
    }

    /// Where this object stands, as in ``BotSettingsError/Problem/path``.
    public let path: String
    private let members: [String: BotSettings]
    private let problems: Problems
    private var asked: [String] = []
    private var children: [SettingsReader] = []

    /// Settings that are no object are a problem.
    public convenience init(_ settings: BotSettings) {
        self.init(settings, path: "", problems: Problems())
    }

    private init(_ settings: BotSettings, path: String, problems: Problems) {
        self.path = path
        self.problems = problems
        switch settings {
        case .object(let members): self.members = members
        case .null: members = [:]
        default:
            members = [:]
            problems.all.append(
                .init(path: path, expected: "a mapping", found: settings.shown, fix: "write it as { key: value }"))
        }
    }

    /// Throws ``BotSettingsError`` with every problem of this reader and those that came from it.
    public func finish() throws(BotSettingsError) {
        noteUnknownKeys()
        guard problems.all.isEmpty else { throw BotSettingsError(problems: problems.all) }
    }

    /// As ``finish()``, and returns what was read; nil is a problem even when nothing else is.
    public func finish<Value>(_ value: Value?) throws(BotSettingsError) -> Value {
        try finish()
        guard let value else {
            throw BotSettingsError(problems: [
                .init(path: path, expected: "settings", found: "none", fix: "see what the bot's page asks for")
            ])
        }
        return value
    }

    // MARK: Fields

    /// The keys that are there, sorted.
    public var keys: [String] { members.keys.sorted() }

    public func has(_ key: String) -> Bool { members[key] != nil }

    /// What stands there, as it is; nil, and a problem if it is required, when nothing does.
    public func value(_ key: String, required: Bool = false) -> BotSettings? {
        if !asked.contains(key) { asked.append(key) }
        guard let value = members[key] else {
            if required { fail(nil, expected: "the key \(key)", found: "none", fix: "add \(key): …") }
            return nil
        }
        return value
    }

    /// What stands there as `parse` reads it; a problem if it returns nil.
    public func parsed<Value>(
        _ key: String, expected: String, fix: String, required: Bool = false, _ parse: (BotSettings) -> Value?
    ) -> Value? {
        guard let value = value(key, required: required) else { return nil }
        guard let parsed = parse(value) else {
            fail(key, expected: expected, fix: fix)
            return nil
        }
        return parsed
    }

    /// An object, with a reader of its own; its unknown keys are problems too.
    public func object(_ key: String, required: Bool = false) -> SettingsReader? {
        guard let value = value(key, required: required) else { return nil }
        return child(value, path(of: key))
    }

    /// The elements of a list of objects, each with a reader of its own; those for which `read` returns nil are left out.
    /// A missing list is an empty one.
    public func list<Element>(
        _ key: String, required: Bool = false, _ read: (SettingsReader) throws -> Element?
    ) rethrows -> [Element] {
        guard let items = items(key, of: "mappings", required: required) else { return [] }
        return try items.enumerated().compactMap { index, item in
            try read(child(item, "\(path(of: key))[\(index)]"))
        }
    }

    /// The elements of a list of plain values, as `parse` reads them; nil when there is no list.
    public func values<Element>(
        _ key: String, of what: String, required: Bool = false, _ parse: (BotSettings) -> Element?
    ) -> [Element]? {
        guard let items = items(key, of: what, required: required) else { return nil }
        return items.enumerated().compactMap { index, item in
            if let value = parse(item) { return value }
            problems.all.append(
                .init(
                    path: "\(path(of: key))[\(index)]", expected: "one of \(what)", found: item.shown,
                    fix: "write a list of \(what)"))
            return nil
        }
    }

    /// Notes a problem: of a field, or of this object itself when the key is nil.
    public func fail(_ key: String?, expected: String, found: String? = nil, fix: String) {
        let shown = key.map { members[$0]?.shown ?? "none" } ?? "a mapping"
        problems.all.append(
            .init(path: key.map(path(of:)) ?? path, expected: expected, found: found ?? shown, fix: fix))
    }

    // MARK: Parts

    private func items(_ key: String, of what: String, required: Bool) -> [BotSettings]? {
        parsed(key, expected: "a list of \(what)", fix: "write \(key): [ … ]", required: required, \.arrayValue)
    }

    private func child(_ settings: BotSettings, _ path: String) -> SettingsReader {
        let child = SettingsReader(settings, path: path, problems: problems)
        children.append(child)
        return child
    }

    private func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    private func noteUnknownKeys() {
        let known = asked
        for key in keys where !known.contains(key) {
            let expected =
                known.isEmpty ? "no keys" : known.count == 1 ? known[0] : "one of \(known.joined(separator: ", "))"
            problems.all.append(
                .init(
                    path: path(of: key), expected: expected, found: "the unknown key \(BotSettings.string(key).shown)",
                    fix: nearestName(to: key, in: known).map { "write \($0)" } ?? "remove it"))
            asked.append(key)
        }
        for child in children { child.noteUnknownKeys() }
    }
}

extension BotSettings {
    /// The value as an error may show it: texts in quotes, on one line and cut; what looks like a key is not shown.
    package var shown: String {
        switch self {
        case .null: return "nothing"
        case .bool(let value): return "\"\(value)\""
        case .int(let value): return "\"\(value)\""
        case .double(let value): return "\"\(value)\""
        case .array: return "a list"
        case .object: return "a mapping"
        case .string(let text):
            let lowered = text.lowercased()
            let isHexKey = text.count == 64 && text.allSatisfy(\.isHexDigit)
            guard !isHexKey, !lowered.contains("nsec1"), !lowered.contains("ncryptsec1") else {
                return "what looks like a key (not shown)"
            }
            let line = text.prefix(60).map { $0.isNewline ? " " : String($0) }.joined()
            return "\"\(line)\(text.count > 60 ? "…" : "")\""
        }
    }
}

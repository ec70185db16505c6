/// Reads a bot's own settings, field by field, and collects all problems so that they can be reported together.
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
/// Keys that were never read are unknown, and reported as problems. A reader must be used by one task only.
public final class SettingsReader {
    private final class Problems {
        var all: [BotSettingsError.Problem] = []
    }

    /// The location of this object, as in ``BotSettingsError/Problem/path``.
    public let path: String
    private let members: [String: BotSettings]
    private let problems: Problems
    private var readKeys: [String] = []
    private var children: [SettingsReader] = []

    /// Creates a reader for a bot's settings. Settings other than an object or an empty value are a problem.
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

    /// Reports unknown keys, and throws ``BotSettingsError`` with every problem of this reader and its children.
    public func finish() throws(BotSettingsError) {
        reportUnknownKeys()
        guard problems.all.isEmpty else { throw BotSettingsError(problems: problems.all) }
    }

    /// Finishes as ``finish()`` does, and returns the value; nil is a problem even if there is no other.
    public func finish<Value>(_ value: Value?) throws(BotSettingsError) -> Value {
        try finish()
        guard let value else {
            throw BotSettingsError(problems: [
                .init(path: path, expected: "settings", found: "none", fix: "see the bot's documentation")
            ])
        }
        return value
    }

    // MARK: Fields

    /// The keys present, sorted.
    public var keys: [String] { members.keys.sorted() }

    /// Returns whether a key is present, without counting it as read.
    public func has(_ key: String) -> Bool { members[key] != nil }

    /// Returns the value unchanged; nil if absent, which is a problem if it is required.
    public func value(_ key: String, required: Bool = false) -> BotSettings? {
        if !readKeys.contains(key) { readKeys.append(key) }
        guard let value = members[key] else {
            if required { fail(nil, expected: "the key \(key)", found: "none", fix: "add \(key): …") }
            return nil
        }
        return value
    }

    /// Returns the value as parsed by `parse`; nil from `parse` is a problem.
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

    /// Returns a reader for a nested object; its unknown keys are problems too.
    public func object(_ key: String, required: Bool = false) -> SettingsReader? {
        guard let value = value(key, required: required) else { return nil }
        return child(value, path(of: key))
    }

    /// Returns the elements of a list of objects, each read by a reader of its own, without those for which `read`
    /// returns nil. A missing list is empty.
    public func list<Element>(
        _ key: String, required: Bool = false, _ read: (SettingsReader) throws -> Element?
    ) rethrows -> [Element] {
        guard let items = items(key, of: "mappings", required: required) else { return [] }
        return try items.enumerated().compactMap { index, item in
            try read(child(item, "\(path(of: key))[\(index)]"))
        }
    }

    /// Returns the elements of a list of plain values, as parsed by `parse`; nil if there is no list.
    public func values<Element>(
        _ key: String, of what: String, required: Bool = false, _ parse: (BotSettings) -> Element?
    ) -> [Element]? {
        guard let items = items(key, of: what, required: required) else { return nil }
        return items.enumerated().compactMap { index, item in
            if let value = parse(item) { return value }
            problems.all.append(
                .init(
                    path: "\(path(of: key))[\(index)]", expected: "an element of a list of \(what)", found: item.shown,
                    fix: "write a list of \(what)"))
            return nil
        }
    }

    /// Records a problem of a field, or of this object itself if the key is nil.
    public func fail(_ key: String?, expected: String, found: String? = nil, fix: String) {
        let shown = key.map { members[$0]?.shown ?? "none" } ?? "a mapping"
        problems.all.append(
            .init(path: key.map(path(of:)) ?? path, expected: expected, found: found ?? shown, fix: fix))
    }

    // MARK: Helpers

    private func items(_ key: String, of what: String, required: Bool) -> [BotSettings]? {
        parsed(key, expected: "a list of \(what)", fix: "write \(key): [ … ]", required: required, \.arrayValue)
    }

    private func child(_ settings: BotSettings, _ path: String) -> SettingsReader {
        let child = SettingsReader(settings, path: path, problems: problems)
        children.append(child)
        return child
    }

    private func path(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    private func reportUnknownKeys() {
        let known = readKeys
        for key in keys where !known.contains(key) {
            let expected =
                known.isEmpty ? "no keys" : known.count == 1 ? known[0] : "one of \(known.joined(separator: ", "))"
            problems.all.append(
                .init(
                    path: path(of: key), expected: expected, found: "the unknown key \(BotSettings.string(key).shown)",
                    fix: nearestName(to: key, in: known).map { "write \($0)" } ?? "remove it"))
            readKeys.append(key)
        }
        for child in children { child.reportUnknownKeys() }
    }
}

extension BotSettings {
    /// The value for an error message: strings in quotes, on one line and shortened; apparent keys are redacted.
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
                return "a value that looks like a key (not shown)"
            }
            let line = text.prefix(60).map { $0.isNewline ? " " : String($0) }.joined()
            return "\"\(line)\(text.count > 60 ? "…" : "")\""
        }
    }
}

import BotKit
import Yams

/// Collects the problems of a file, so that all can be reported at once, and the location of each value.
final class ConfigurationProblems {
    /// The location of a value and of its key.
    struct Place: Hashable, Sendable {
        var line: Int
        var column: Int
        var keyLine: Int
        var keyColumn: Int
    }

    let file: String
    /// Locations by key path, recorded by the first pass over the file.
    private(set) var places: [String: Place] = [:]
    private var problems: [ConfigurationError.Problem] = []
    /// Locations of secrets and variables, for which only the first problem is reported.
    private var silencedPlaces: Set<[Int]> = []

    init(file: String) {
        self.file = file
    }

    func note(_ keyPath: String, at mark: Mark?, key: Mark?) {
        let key = key ?? mark
        places[keyPath] = Place(
            line: mark?.line ?? 1, column: mark?.column ?? 1, keyLine: key?.line ?? 1, keyColumn: key?.column ?? 1)
    }

    func add(_ mark: Mark?, _ keyPath: String, expected: String, found: String, fix: String) {
        add(
            line: mark?.line ?? 1, column: mark?.column ?? 1, keyPath, expected: expected, found: found, fix: fix)
    }

    func add(line: Int, column: Int, _ keyPath: String, expected: String, found: String, fix: String) {
        guard !silencedPlaces.contains([line, column]) else { return }
        problems.append(
            .init(
                file: file, line: line, column: column, keyPath: keyPath, expected: expected, found: found, fix: fix))
    }

    /// Adds a problem and suppresses others at the same location.
    func addOnly(_ mark: Mark?, _ keyPath: String, expected: String, found: String, fix: String) {
        add(mark, keyPath, expected: expected, found: found, fix: fix)
        silencedPlaces.insert([mark?.line ?? 1, mark?.column ?? 1])
    }

    /// Adds a problem that a bot reports about its settings at `keyPath`. An unknown key is reported at the key's
    /// location.
    func add(_ problem: BotSettingsError.Problem, below keyPath: String) {
        var path = [keyPath, problem.path].filter { !$0.isEmpty }.joined(separator: ".")
        let place = nearestPlace(to: path)
        let isAboutKey = problem.found.hasPrefix("the unknown key ")
        if isAboutKey, let end = path.lastIndex(of: ".") { path = String(path[..<end]) }
        add(
            line: isAboutKey ? place.keyLine : place.line, column: isAboutKey ? place.keyColumn : place.column, path,
            expected: problem.expected, found: problem.found, fix: problem.fix)
    }

    /// Returns the location of a value, or of the innermost existing value around it.
    func nearestPlace(to keyPath: String) -> Place { Self.nearestPlace(to: keyPath, in: places) }

    static func nearestPlace(to keyPath: String, in places: [String: Place]) -> Place {
        var path = Substring(keyPath)
        while true {
            if let place = places[String(path)] { return place }
            guard let end = path.lastIndex(where: { $0 == "." || $0 == "[" }) else { break }
            path = path[..<end]
        }
        return Place(line: 1, column: 1, keyLine: 1, keyColumn: 1)
    }

    /// The error with all problems, of which there must be at least one.
    var error: ConfigurationError {
        precondition(!problems.isEmpty, "a file was refused without a reason")
        return ConfigurationError(problems: problems)
    }

    func throwIfAny() throws(ConfigurationError) {
        guard !problems.isEmpty else { return }
        throw ConfigurationError(problems: problems)
    }
}

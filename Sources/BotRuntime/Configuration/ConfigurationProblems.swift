import BotKit
import Yams

/// Collects what is wrong while a file is read, so that all of it can be said at once; knows where each value is.
final class ConfigurationProblems {
    /// Where a value begins, and its key.
    struct Place: Hashable, Sendable {
        var line: Int
        var column: Int
        var keyLine: Int
        var keyColumn: Int
    }

    let file: String
    /// By key path; filled by the first walk through the file.
    private(set) var places: [String: Place] = [:]
    private var problems: [ConfigurationError.Problem] = []
    /// Places of which one problem says all there is to say: what stands there is a secret, or a variable.
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

    /// Nothing else is said about the place.
    func addOnly(_ mark: Mark?, _ keyPath: String, expected: String, found: String, fix: String) {
        add(mark, keyPath, expected: expected, found: found, fix: fix)
        silencedPlaces.insert([mark?.line ?? 1, mark?.column ?? 1])
    }

    /// What a bot says about its settings, which stand at `keyPath`. An unknown key is where it stands itself.
    func add(_ problem: BotSettingsError.Problem, below keyPath: String) {
        var path = [keyPath, problem.path].filter { !$0.isEmpty }.joined(separator: ".")
        let place = nearestPlace(to: path)
        let isAboutKey = problem.found.hasPrefix("the unknown key ")
        if isAboutKey, let end = path.lastIndex(of: ".") { path = String(path[..<end]) }
        add(
            line: isAboutKey ? place.keyLine : place.line, column: isAboutKey ? place.keyColumn : place.column, path,
            expected: problem.expected, found: problem.found, fix: problem.fix)
    }

    /// The place of a value, or of the innermost one around it that is there.
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

    /// Everything that was noted, which must be something.
    var error: ConfigurationError {
        precondition(!problems.isEmpty, "a file was refused without a reason")
        return ConfigurationError(problems: problems)
    }

    func throwIfAny() throws(ConfigurationError) {
        guard !problems.isEmpty else { return }
        throw ConfigurationError(problems: problems)
    }
}

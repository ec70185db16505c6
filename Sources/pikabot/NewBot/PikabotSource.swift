import BotProgram
import Foundation

/// Location of pikabot for a new package's dependency.
enum PikabotSource: Hashable, Sendable {
    /// A local clone; absolute path.
    case path(String)
    /// A repository and the branch to follow.
    case repository(String, branch: String)

    init(_ text: String, branch: String) throws {
        guard !text.contains("://"), !text.hasPrefix("git@") else {
            self = .repository(text, branch: branch)
            return
        }
        let path = URL(fileURLWithPath: text).standardizedFileURL.path
        guard Self.isPikabot(path) else {
            throw CommandError("\(text): expected a clone of pikabot (with its Package.swift); pass one with --pikabot")
        }
        self = .path(path)
    }

    /// Finds the clone in which a program was built: the nearest enclosing folder that is a clone.
    init?(builtFrom program: String) {
        var folder = URL(fileURLWithPath: program).resolvingSymlinksInPath().deletingLastPathComponent()
        while folder.path != "/" {
            if Self.isPikabot(folder.path) {
                self = .path(folder.path)
                return
            }
            folder.deleteLastPathComponent()
        }
        return nil
    }

    private static func isPikabot(_ folder: String) -> Bool {
        let manifest = FileManager.default.contents(atPath: folder + "/Package.swift") ?? Data()
        return String(decoding: manifest, as: UTF8.self).contains("name: \"pikabot\",")
            && FileManager.default.fileExists(atPath: folder + "/Sources/BotKit")
    }

    /// The dependency in a package manifest.
    var dependency: String {
        switch self {
        case .path(let path): ".package(name: \"pikabot\", path: \(Self.literal(path)))"
        case .repository(let address, let branch):
            ".package(url: \(Self.literal(address)), branch: \(Self.literal(branch)))"
        }
    }

    /// The package's identity in the manifest's target dependencies.
    var identity: String {
        guard case .repository(let address, _) = self else { return "pikabot" }
        let last = address.split(whereSeparator: { $0 == "/" || $0 == ":" }).last.map(String.init) ?? address
        return last.hasSuffix(".git") ? String(last.dropLast(4)) : last
    }

    /// Returns the text as a Swift string literal.
    static func literal(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "\\\""
            case "\\": "\\\\"
            case _ where scalar.value < 0x20: "\\u{\(String(scalar.value, radix: 16))}"
            default: String(scalar)
            }
        }
        return "\"\(escaped.joined())\""
    }
}

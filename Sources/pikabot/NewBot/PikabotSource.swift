import BotProgram
import Foundation

/// Where a new package takes pikabot from.
enum PikabotSource: Hashable, Sendable {
    /// A clone on this machine; absolute.
    case path(String)
    /// A repository, and the branch to follow.
    case repository(String, branch: String)

    init(_ text: String, branch: String) throws {
        guard !text.contains("://"), !text.hasPrefix("git@") else {
            self = .repository(text, branch: branch)
            return
        }
        let path = URL(fileURLWithPath: text).standardizedFileURL.path
        guard Self.isPikabot(path) else {
            throw CommandError("\(text): holds no clone of pikabot (its Package.swift); name one with --pikabot")
        }
        self = .path(path)
    }

    /// The clone that a program was built in: the nearest folder above it that is one.
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

    /// As a dependency in a manifest.
    var dependency: String {
        switch self {
        case .path(let path): ".package(name: \"pikabot\", path: \(Self.literal(path)))"
        case .repository(let address, let branch):
            ".package(url: \(Self.literal(address)), branch: \(Self.literal(branch)))"
        }
    }

    /// How the manifest's targets call it.
    var identity: String {
        guard case .repository(let address, _) = self else { return "pikabot" }
        let last = address.split(whereSeparator: { $0 == "/" || $0 == ":" }).last.map(String.init) ?? address
        return last.hasSuffix(".git") ? String(last.dropLast(4)) : last
    }

    /// A string literal of Swift.
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

import ArgumentParser
import BotConfiguration
import BotKit
import BotProgram
import Foundation
import Testing

@testable import pikabot

@Suite struct NewBotTests {
    private func run(_ arguments: String...) throws {
        var command = try Pikabot.parseAsRoot(["new", "bot"] + arguments)
        try command.run()
    }

    /// Creates a folder that resembles a clone.
    private func clone(in directory: String) throws -> String {
        let path = directory + "/clone"
        try FileManager.default.createDirectory(atPath: path + "/Sources/BotKit", withIntermediateDirectories: true)
        try Data("let package = Package(\n    name: \"pikabot\",\n".utf8)
            .write(to: URL(fileURLWithPath: path + "/Package.swift"))
        return path
    }

    @Test func packageHasFilesAndPrivateKey() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let clone = try self.clone(in: directory)
            let folder = directory + "/mine"
            try self.run("hello-world", "--directory", folder, "--pikabot", clone)
            let paths = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
                var isFolder: ObjCBool = false
                return FileManager.default.fileExists(atPath: "\(folder)/\($0)", isDirectory: &isFolder)
                    && !isFolder.boolValue
            }
            #expect(
                paths.sorted() == [
                    ".gitignore", "Package.swift", "README.md", "Sources/HelloWorldBot/HelloWorldBot.swift",
                    "Sources/HelloWorldProgram/HelloWorldProgram.swift",
                    "Tests/HelloWorldBotTests/HelloWorldBotTests.swift", "hello-world.yaml", "secrets/hello-world.key",
                ])
            let key = try FileManager.default.attributesOfItem(atPath: folder + "/secrets/hello-world.key")
            #expect(key[.posixPermissions] as? Int == 0o600)
            let manifest = try String(contentsOfFile: folder + "/Package.swift", encoding: .utf8)
            #expect(manifest.contains(".package(name: \"pikabot\", path: \"\(clone)\")"))
            // The configuration is valid and uses the new key.
            let configuration = try Configuration.load(
                path: folder + "/hello-world.yaml", knownBots: ["hello-world"])
            #expect(configuration.accounts.map(\.name) == ["hello-world"])
            #expect(throws: Never.self) { try configuration.accounts.first?.key.loadKeyPair(environment: [:]) }
        }
    }

    @Test func keepsExistingFolder() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let clone = try self.clone(in: directory)
            let folder = directory + "/mine"
            try self.run("hello", "--directory", folder, "--pikabot", clone)
            let key = FileManager.default.contents(atPath: folder + "/secrets/hello.key")
            let error = #expect(throws: CommandError.self) {
                try self.run("hello", "--directory", folder, "--pikabot", clone)
            }
            #expect(error?.description == "\(folder): already exists; choose another --directory")
            #expect(FileManager.default.contents(atPath: folder + "/secrets/hello.key") == key)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == ["clone", "mine"])
        }
    }

    @Test(arguments: [
        "", "Hello", "1hello", "-hello", "hello-", "hello_world", "hé", "a/b", "..", String(repeating: "a", count: 33),
    ])
    func refusesOtherNames(name: String) {
        #expect(throws: CommandError.self) { try NewBotName(name) }
    }

    @Test(arguments: ["echo", "responder", "pikabot"])
    func refusesBuiltInBotNames(name: String) throws {
        let error = #expect(throws: CommandError.self) { try NewBotName(name) }
        #expect(error?.description == "\(name): the name of pikabot or of a built-in bot; choose another one")
    }

    @Test func builtInBotNamesAreReserved() {
        for name in BotRegistry.included.names { #expect(throws: CommandError.self) { try NewBotName(name) } }
    }

    @Test(arguments: [
        ("key-package-probe", "KeyPackageProbeBot", "KeyPackageProbeBot"), ("e-cho", "EChoBot", "EchoBot"),
        ("relay--probe", "RelayProbeBot", "RelayProbeBot"), ("bot", "BotProgram", "BotProgram"),
    ])
    func refusesNamesWithTakenTargets(name: String, target: String, taken: String) {
        let error = #expect(throws: CommandError.self) { try NewBotName(name) }
        #expect(
            error?.description
                == "\(name): its target \(target) would collide with pikabot's target \(taken); choose another name")
    }

    @Test func knowsTargetsOfPikabot() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let manifest = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
        let targets = manifest.matches(of: /(?:name:|library\()\s*"(\w+(?:Bot|Program))"/).map { String($0.output.1) }
        #expect(targets.sorted() == NewBotName.takenTargets)
    }

    @Test func refusesFolderWithoutClone() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            #expect(throws: CommandError.self) {
                try self.run("hello", "--directory", directory + "/a", "--pikabot", directory)
            }
            #expect(!FileManager.default.fileExists(atPath: directory + "/a"))
            #expect(PikabotSource(builtFrom: directory + "/pikabot") == nil)
            let clone = try self.clone(in: directory)
            #expect(PikabotSource(builtFrom: clone + "/.build/debug/pikabot") == .path(clone))
        }
    }

    @Test(arguments: [
        ("https://git.example/team/pikabot.git", "pikabot"), ("https://git.example/team/bots", "bots"),
        ("git@git.example:pikabot.git", "pikabot"), ("ssh://git@git.example/x/y.git", "y"),
    ])
    func repositoryIdentityIsLastComponent(address: String, identity: String) throws {
        let source = try PikabotSource(address, branch: "main")
        #expect(source.identity == identity)
        #expect(source.dependency == ".package(url: \"\(address)\", branch: \"main\")")
    }

    @Test func escapesManifestLiterals() {
        #expect(PikabotSource.literal("a\"b\\c\n\\(d)") == "\"a\\\"b\\\\c\\u{a}\\\\(d)\"")
    }
}

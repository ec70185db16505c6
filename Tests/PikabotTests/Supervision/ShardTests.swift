import ArgumentParser
import BotConfiguration
import Foundation
import Nostr
import Supervisor
import Testing

@testable import BotProgram
@testable import pikabot

struct ShardTests {
    @Test(arguments: [("0/1", 0, 1), ("3/8", 3, 8), ("9999/10000", 9999, 10_000)])
    func readsIndexAndCount(text: String, index: Int, count: Int) throws {
        let shard = try Shard(text)
        #expect(shard.index == index && shard.count == count && shard.description == text)
    }

    @Test(
        arguments: [
            ("", "expected INDEX/COUNT"), ("3", "expected INDEX/COUNT"), ("3/", "expected INDEX/COUNT"),
            ("/8", "expected INDEX/COUNT"), ("1/2/3", "expected INDEX/COUNT"), ("-1/8", "expected INDEX/COUNT"),
            ("+1/8", "expected INDEX/COUNT"), (" 1/8", "expected INDEX/COUNT"), ("a/b", "expected INDEX/COUNT"),
            ("1/99999999999999999999", "expected INDEX/COUNT"), ("٣/8", "expected INDEX/COUNT"),
            ("0/0", "expected a COUNT from 1 to 10000"), ("0/10001", "expected a COUNT from 1 to 10000"),
            ("8/8", "expected an INDEX from 0 to 7"),
        ] as [(String, String)])
    func reportsErrors(text: String, words: String) {
        let error = #expect(throws: CommandError.self) { try Shard(text) }
        #expect(error?.description.contains(words) == true, "\(String(describing: error))")
    }

    @Test(arguments: 1...9)
    func everyPositionHasOneShard(count: Int) throws {
        let shards = try (0..<count).map { try Shard("\($0)/\(count)") }
        for position in 0..<40 { #expect(shards.count { $0.has(position: position) } == 1) }
    }

    @Test(arguments: [
        ("/state/control.sock", "/state/control-3.sock"), ("supervisor.lock", "supervisor-3.lock"),
        ("/run/pika.bot/control", "/run/pika.bot/control-3"), ("/run/.hidden", "/run/.hidden-3"),
    ])
    func shardsHaveSeparateFiles(path: String, own: String) throws {
        #expect(try Shard("3/8").path(for: path) == own)
    }

    @Test func optionOverridesVariable() throws {
        let option = try ShardOptions.parse(["--shard", "1/2"])
        #expect(try option.chosen(environment: ["PIKABOT_SHARD": "0/3"]) == Shard("1/2"))
        let none = try ShardOptions.parse([])
        #expect(try none.chosen(environment: ["PIKABOT_SHARD": "0/3"]) == Shard("0/3"))
        #expect(try none.chosen(environment: [:]) == nil)
        #expect(throws: CommandError.self) { try none.chosen(environment: ["PIKABOT_SHARD": ""]) }
        #expect(throws: (any Error).self) { try ShardOptions.parse(["--shard", "2/2"]) }
    }
}

struct PlacementTests {
    /// Accounts a to e, of which c has no key.
    private func withFile(_ body: (ConfigurationFile) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let accounts = ["a", "b", "c", "d", "e"].map { name in
                "  - { name: \(name), key: { file: \(name == "c" ? "none" : "test").key }, bots: [ { use: echo } ] }\n"
            }
            let head = "version: 1\nrelays: [wss://one.example]\nstate: { directory: state }\naccounts:\n"
            let file = folder + "/test.yaml"
            try SecretFile.writeNewKey(to: folder + "/test.key")
            try Data((head + accounts.joined()).utf8).write(to: URL(fileURLWithPath: file))
            try body(try ConfigurationFile(path: file, registry: .included))
        }
    }

    private func withTemporaryFolder(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("shard-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    @Test func everyAccountHasOneShard() throws {
        try withFile { file in
            let shards = try (0..<2).map { try placed(file, "\($0)/2").configuration.accounts.map(\.name) }
            #expect(shards == [["a", "c", "e"], ["b", "d"]])
            #expect(try placed(file, "7/8").configuration.accounts.isEmpty)
            #expect(Placement().applied(to: file).configuration == file.configuration)
        }
    }

    private func placed(_ file: ConfigurationFile, _ shard: String) throws -> ConfigurationFile {
        try Placement(shard: Shard(shard)).applied(to: file)
    }

    @Test func ignoresMissingFilesOfOtherShards() throws {
        try withFile { file in
            #expect(try placed(file, "1/2").missing(environment: [:]).isEmpty)
            let missing = try #require(try placed(file, "2/3").missing(environment: [:]).first)
            #expect(missing.line == 7 && missing.keyPath.hasPrefix("accounts[2].key"), "\(missing)")
        }
    }

    @Test func shardListensOnOwnAddress() throws {
        try withFile { file in
            var configuration = file.configuration
            let shard = try Shard("1/2")
            #expect(
                Placement(shard: shard).applied(to: configuration).controlPath
                    == "\(configuration.stateDirectory)/control-1.sock")
            configuration.supervisor.control = "/run/bots.sock"
            let listen = try #require(ListenAddress(configurationText: "127.0.1.1:9464"))
            let placed = Placement(shard: shard, listen: listen).applied(to: configuration)
            #expect(placed.controlPath == "/run/bots-1.sock" && placed.observe.listen == listen)
        }
    }

    /// While an account may be moving between shards, its worker waits for the state.
    @Test func lockedStateWaitsOnlyAmongShards() throws {
        try withFile { file in
            for isShard in [false, true] {
                let workers = WorkerSpecification.workers(
                    of: file, path: "bots.yaml", stateDirectory: "/state", isShard: isShard)
                let status = ExitCode.stateInUse.rawValue
                #expect(workers.allSatisfy { ($0.finalStatuses[status] != nil) == !isShard })
                #expect(workers.allSatisfy { $0.waitingStatuses.contains(status) == isShard })
                #expect(
                    SupervisorConfiguration(file.configuration.supervisor, isShard: isShard).waitsForWorkers == isShard)
            }
        }
    }

    @Test func statusNamesShard() {
        let some = StatusView(result: ["pid": 7, "uptime": 1, "workers": [], "configuration": ["shard": "7/8"]])
        #expect(some.isGood)
        #expect(some.text == "process 7, up 1s, shard 7/8\nno account in the configuration file belongs to this shard")
    }
}

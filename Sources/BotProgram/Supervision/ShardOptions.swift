import ArgumentParser
import BotRuntime
import Foundation

/// Which part of a configuration file's accounts a command is about.
struct ShardOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only every COUNTth account, from number INDEX (0, 1 …) on; or set \(Shard.variable).",
            valueName: "index/count"))
    var shard: String?

    func validate() throws {
        do {
            _ = try chosen()
        } catch {
            throw ValidationError("\(shard == nil ? Shard.variable : "--shard"): \(error)")
        }
    }

    /// Nil for all accounts. An empty variable is refused, since what should have filled it has failed.
    func chosen(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandError) -> Shard? {
        guard let text = shard ?? environment[Shard.variable] else { return nil }
        return try Shard(text)
    }
}

import ArgumentParser
import BotRuntime
import Foundation

/// The part of a configuration file's accounts that a command applies to.
struct ShardOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Run only the accounts whose position modulo COUNT is INDEX (0, 1 …); or set \(Shard.variable).",
            valueName: "index/count"))
    var shard: String?

    func validate() throws {
        do {
            _ = try chosen()
        } catch {
            throw ValidationError("\(shard == nil ? Shard.variable : "--shard"): \(error)")
        }
    }

    /// Returns the selected shard; nil for all accounts. An empty variable is an error, since its assignment must have
    /// failed.
    func chosen(
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CommandError) -> Shard? {
        guard let text = shard ?? environment[Shard.variable] else { return nil }
        return try Shard(text)
    }
}

import ArgumentParser
import BotProgram
import Logging
import Nostr

/// A command for the account in a state directory: runs in this process or in the account's daemon, and prints one
/// result.
protocol ClientCommand: AsyncParsableCommand {
    var options: ClientOptions { get }

    /// Layout of the result on a terminal.
    static var view: ResultView { get }

    /// Returns the equivalent request to the daemon (docs/daemon.md); its result is printed unchanged.
    func remoteRequest() throws -> JSONObject

    /// Runs the command in this process.
    func perform() async throws -> JSONValue
}

extension ClientCommand {
    static var view: ResultView { .record }

    func remoteRequest() throws -> JSONObject {
        throw CommandError(
            "--remote works with groups, welcomes, accept-welcome, messages, send, send-hypernote, invite, create, "
                + "members, add, remove, leave, rename, describe, admins, relays, disband and publish-kp; omit it here")
    }

    func run() async throws {
        StandardErrorLog.bootstrap(level: .error)
        let result: JSONValue
        if options.remote {
            result = try DaemonConnection.call(try remoteRequest(), stateDirectory: try options.accountFolder())
        } else {
            result = try await perform()
        }
        Console.print(result, as: Self.view, options)
    }
}

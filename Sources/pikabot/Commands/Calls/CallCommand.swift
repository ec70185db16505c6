import ArgumentParser
import BotKit
import BotProgram
import BotRuntime
import CallMedia
import Foundation
import Nostr
import PikaCore

/// `pikabot call`.
struct CallCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Call a member of a group or a peer, play a WAV file, and record what is heard.",
        discussion: """
            The call's media travels over a call relay (`pikabot relay --calls`), which both sides must reach. The call \
            ends when the other side hangs up, after --seconds, or when the file of --play has been played.
            """)
    private static let longestWait = 3600
    private static let maximumFileBytes = 64 << 20

    @OptionGroup var options: ClientOptions
    @OptionGroup var target: TargetOptions

    @Option(help: "The member to call, in a group with several others: npub or hex.") var peer: PeerArgument?
    @Option(
        name: .customLong("call-relay"),
        help: "The call relay: a ws:// or wss:// URL that ends in /calls. (default: /calls of the first --relay)")
    var callRelay: RelayArgument?
    @Option(help: "A WAV file to play: 16-bit PCM.") var play: String?
    @Option(help: "Seconds to listen before playing.") var wait = 0
    @Option(help: "A WAV file for what is heard.") var record: String?
    @Option(help: "Seconds after which to hang up. (default: when the file was played; 20 without a file)")
    var seconds: Int?

    func validate() throws {
        guard (0...Self.longestWait).contains(wait), (1...Self.longestWait).contains(seconds ?? 1) else {
            throw ValidationError("--wait and --seconds: at most \(Self.longestWait) seconds")
        }
        guard callRelay?.url.path.hasSuffix("/calls") != false else {
            throw ValidationError("--call-relay: expected a URL that ends in /calls")
        }
        guard play != nil || wait == 0 else { throw ValidationError("--wait needs --play") }
    }

    func perform() async throws -> JSONValue {
        let sound = try play.map { try Self.sound($0) }
        var core = try options.coreConfiguration()
        core.calls.moqURL = try callRelay?.url.string ?? Self.standardRelay(core.relays)
        return try await withClient(options, core) { client in
            try await client.catchUp(needed: true)
            let (chatID, _) = try await client.chat(target)
            Console.progress("calling…")
            let call = try await client.call(peer?.key, in: chatID)
            Console.progress("connected")
            let heard = try await talk(call, sound)
            await client.settle()
            if let record { try Self.write(heard, to: record) }
            return try await result(call, heard, client, chatID)
        }
    }

    /// Plays and records until the call is over.
    private func talk(_ call: any BotCall, _ sound: WaveAudio?) async throws -> WaveAudio {
        let limit = seconds ?? (sound == nil ? 20 : Self.longestWait)
        let (wait, hangsUp) = (wait, seconds == nil)
        return try await withThrowingTaskGroup(of: WaveAudio?.self) { group in
            group.addTask { try await call.record(for: .seconds(limit), clock: SystemClock()) }
            if let sound {
                group.addTask {
                    try await Task.sleep(for: .seconds(wait))
                    // The other side may hang up while the file is played.
                    do { try await call.play(sound) } catch {
                        guard case .ended = call.phase else { throw error }
                    }
                    if hangsUp { call.end() }
                    return nil
                }
            }
            defer { group.cancelAll() }
            while let part = try await group.next() {
                guard let heard = part else { continue }
                call.end()
                return heard
            }
            throw CancellationError()
        }
    }

    private func result(
        _ call: any BotCall, _ heard: WaveAudio, _ client: Client, _ chatID: ChatID
    ) async throws -> JSONValue {
        let state = await client.account.core.state.activeCall
        guard let state, state.callID == call.callID, case .ended(let reason) = state.phase else {
            throw CommandError("the call's end was not reported")
        }
        var result = ResultJSON.groupIDs(try await client.chat(chatID))
        result["call_id"] = .string(call.callID)
        result["peer_pubkey"] = .string(call.peer.hex)
        result["reason"] = .string(reason)
        result["frames_sent"] = .integer(Int64(state.statistics.sent))
        result["frames_received"] = .integer(Int64(state.statistics.received))
        result["heard_ms"] = .integer(heard.duration.wholeMilliseconds)
        if let record { result["output_path"] = .string(record) }
        return .object(result)
    }

    private static func standardRelay(_ relays: [RelayURL]) throws -> String {
        guard let first = relays.first else { throw CommandError("--call-relay is missing") }
        return first.string + (first.string.hasSuffix("/") ? "calls" : "/calls")
    }

    private static func sound(_ path: String) throws -> WaveAudio {
        let file = try LocalFile(path: path, limit: maximumFileBytes)
        do throws(WaveAudioError) { return try WaveAudio(file: file.bytes) } catch {
            throw CommandError("\(path): \(error)")
        }
    }

    private static func write(_ audio: WaveAudio, to path: String) throws {
        do { try Data(audio.file).write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
            throw CommandError("\(path): cannot be written: \(error.localizedDescription)")
        }
    }
}

extension Client {
    fileprivate func call(_ peer: PublicKey?, in chatID: ChatID) async throws -> any BotCall {
        do throws(BotError) { return try await account.calls.invite(peer, in: chatID, tracks: [.audio]) } catch {
            throw CommandError(error.message)
        }
    }
}

package import BotKit

/// An answering machine: greets the callers of an account, records them, and posts the recordings to their chats.
package struct VoicemailBot: Bot {
    /// The bot's name in configurations.
    package static let name = "voicemail"

    private let settings: VoicemailSettings

    /// Creates the bot from the settings that its README describes.
    package init(settings: BotSettings) throws {
        self.settings = try VoicemailSettings(settings)
    }

    /// The handler of invitations to calls.
    package var handlers: [Handler] {
        OnCall(.invite) { invitation, context in
            let caller = "nostr:\(invitation.sender.npub)"
            let greeting = await greeting(context)
            let recording: WaveAudio
            do {
                recording = try await context.answerCall { call in
                    for audio in greeting { try await call.play(audio) }
                    return try await call.record(for: settings.longest, clock: context.services.clock)
                }
            } catch let error as BotError where error.code == .callFailed {
                // Also after a crash in the middle of a call.
                context.logger.info("no recording", metadata: ["reason": "\(error.message)"])
                context.send("Missed call from \(caller)", to: settings.chat)
                return
            }
            guard recording.duration >= VoicemailSettings.shortest else {
                context.send("Missed call from \(caller)", to: settings.chat)
                return
            }
            let file = OutgoingFile(bytes: recording.file, filename: "voicemail.wav", mediaType: "audio/wav")
            let seconds = Int((recording.duration / .seconds(1)).rounded())
            let caption = "Voicemail from \(caller), \(seconds) s"
            let transcript = await transcript(of: file.bytes, context)
            context.send(media: [file], caption: ([caption] + transcript).joined(separator: "\n"), to: settings.chat)
        }
    }

    /// The greeting, if there is one, and a tone.
    private func greeting(_ context: BotContext) async -> [WaveAudio] {
        let tone = WaveAudio.tone(hertz: 880, for: .milliseconds(400))
        guard let path = settings.greeting else { return [tone] }
        do {
            let file = try await context.services.files.read(path, maximumBytes: VoicemailSettings.longestGreeting)
            return [try WaveAudio(file: file), tone]
        } catch {
            context.logger.error("the greeting cannot be played", metadata: ["file": "\(path)", "reason": "\(error)"])
            return [tone]
        }
    }

    /// What the configured program understood; empty without one, and if it failed.
    private func transcript(of file: [UInt8], _ context: BotContext) async -> [String] {
        guard let command = settings.transcribe else { return [] }
        let run = BotProgramRun(
            command: command, input: file, timeout: settings.patience, maximumBytes: VoicemailSettings.longestText)
        do {
            let text = String(decoding: try await context.services.programs.run(run), as: UTF8.self)
            return text.split(separator: "\n").map(String.init)
        } catch {
            context.logger.error("no transcript", metadata: ["reason": "\(error.message)"])
            return []
        }
    }
}

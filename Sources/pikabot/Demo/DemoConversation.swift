import BotProgram
import BotRuntime
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import Supervisor

/// The demo's script: the guests' messages and the bot's expected answers.
struct DemoConversation: Sendable {
    let environment: DemoEnvironment
    let console: DemoConsole
    let steps: DemoSteps
    let summary: DemoSummary
    let logger: Logger

    private static let botName = "echo"
    private static let groupName = "Demo group"

    /// Runs the whole script.
    func play() async throws {
        console.introduce(environment.bot, as: Self.botName)
        try await awaitWorker()
        try await withGuest("alice") { alice in
            let chat = try await createGroup(by: alice)
            for text in ["Hello, echo!", "Zażółć gęślą jaźń 🦊", "What did I say?"] {
                try await say(text, as: alice, in: chat)
            }
            try await rename(chat, by: alice)
            try await withGuest("bob") { bob in
                try await add(bob, to: chat, by: alice)
                try await call(from: alice, in: chat)
            }
        }
    }
}

// MARK: Setup

extension DemoConversation {
    private func awaitWorker() async throws {
        console.tell("relay", "listens on \(environment.relay)")
        try await steps.run("start the bot's worker") {
            let pid = try await environment.events.first { event in
                if case .started(_, let pid) = event { pid } else { nil as Int32? }
            }
            console.tell("worker", "started by the supervisor, process \(pid)")
            try await environment.events.first { event in
                if case .ready = event { () } else { nil as Void? }
            }
            console.tell("worker", "ready as \(environment.bot.npub)")
        }
    }

    /// Runs `body` with an account in this process that has published its key package.
    private func withGuest<Result: Sendable>(
        _ name: String, _ body: @escaping @Sendable (LocalAccount) async throws -> Result
    ) async throws -> Result {
        var generator = SystemRandomNumberGenerator()
        let key = KeyPair.generate(using: &generator)
        console.introduce(key.publicKey, as: name)
        let settings = LocalAccountSettings(
            key: HeldKey(key),
            core: CoreConfiguration(
                relays: [environment.relay], invites: .anyone, publishesKeyPackage: false, selfUpdate: .never),
            stateDirectory: environment.directory + "/" + name, addresses: .unrestricted, logger: logger)
        return try await withLocalAccount(settings) { account in
            try await steps.run("publish the key package of \(name)") {
                _ = try await account.publishKeyPackage()
            }
            console.tell(name, "published a key package")
            return try await body(account)
        }
    }

    private func createGroup(by alice: LocalAccount) async throws -> ChatID {
        let package = try await steps.run("find the bot's key package") {
            let kinds: [Kind] = [.addressableKeyPackage, .keyPackage]
            // A worker that is ready has published its key package.
            let event = await alice.newestEvent(of: environment.bot, kinds: kinds, on: [environment.relay])
            guard let event else { throw CommandError("the relay has no key package") }
            return event
        }
        console.tell("alice", "found the key package of \(Self.botName), kind \(package.kind)")
        let chat = try await steps.run("create a group and invite the bot") {
            try await alice.performInChat(.createGroupChat(name: Self.groupName, peers: [environment.bot]))
        }
        console.tell("alice", "created \"\(Self.groupName)\" and invited \(Self.botName)")
        return chat
    }
}

// MARK: The conversation

extension DemoConversation {
    private func say(_ text: String, as alice: LocalAccount, in chat: ChatID) async throws {
        try await steps.run("receive the echo of \"\(text)\"") {
            console.say("alice", text)
            let asked = ContinuousClock.now
            _ = try await alice.perform(.sendMessage(chatID: chat, .text(text)))
            let answer = try await alice.message(from: environment.bot) { $0.hasSuffix(text) }
            heard(answer.content, .echo, since: asked)
        }
    }

    private func rename(_ chat: ChatID, by alice: LocalAccount) async throws {
        try await steps.run("receive the announcement of the new name") {
            let name = "Renamed group"
            let asked = ContinuousClock.now
            _ = try await alice.perform(.renameGroup(chatID: chat, name: name))
            console.tell("alice", "renamed the group \"\(name)\"")
            let answer = try await alice.message(from: environment.bot) { $0.contains("epoch") && $0.contains(name) }
            heard(answer.content, .announcement, since: asked)
        }
    }

    private func add(_ bob: LocalAccount, to chat: ChatID, by alice: LocalAccount) async throws {
        try await steps.run("add the second guest") {
            let asked = ContinuousClock.now
            _ = try await alice.perform(.addGroupMembers(chatID: chat, peers: [bob.core.account]))
            console.tell("alice", "added bob")
            let answer = try await alice.message(from: environment.bot) { $0.contains("epoch") && $0.contains("added") }
            heard(answer.content, .announcement, since: asked)
        }
        let join = try await steps.run("join as the second guest") {
            try await bob.events.first { event in
                if case .joined(let join) = event.content { join } else { nil }
            }
        }
        console.tell("bob", "joined \"\(join.name)\" in epoch \(join.epoch), with \(join.memberCount) members")
    }

    private func call(from alice: LocalAccount, in chat: ChatID) async throws {
        try await steps.run("receive the refusal of the call") {
            let session = CallSession(
                moqURL: "https://moq.example", broadcastBase: "pika/calls/demo", tracks: [.audio])
            console.tell("alice", "calls")
            let asked = ContinuousClock.now
            _ = try await alice.perform(.startCall(chatID: chat, session: session, peer: environment.bot))
            let reason = try await alice.events.first { event in
                guard case .call(let call) = event.content, call.sender == environment.bot,
                    case .reject(let reason) = call.signal.body
                else { return nil as String? }
                return reason
            }
            let latency = ContinuousClock.now - asked
            summary.add(.refusal, latency)
            console.tell(Self.botName, "refused the call: \(reason)   (after \(latency.inMilliseconds))")
        }
    }

    private func heard(_ text: String, _ kind: DemoSummary.Answer, since asked: ContinuousClock.Instant) {
        let latency = ContinuousClock.now - asked
        summary.add(kind, latency)
        console.say(Self.botName, text, after: latency)
    }
}

extension LocalAccount {
    /// Returns the first message of this sender whose text matches.
    fileprivate func message(
        from sender: PublicKey, _ fits: (String) -> Bool
    ) async throws -> MessageEvent {
        try await events.first { event in
            guard case .message(let message) = event.content, message.sender == sender, fits(message.content) else {
                return nil
            }
            return message
        }
    }
}

import BotTesting
import LiveTesting
import Testing

/// A bot that changes groups at its members' request, and reports departures.
private struct KeeperBot: Bot {
    static let name = "keeper"
    /// The signature of PNG files is enough for a picture.
    private static let picture: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0]

    init(settings: BotSettings) {}

    private static func keys(_ command: Command) throws -> [PublicKey] {
        try command.arguments.map { try PublicKey(hex: $0) }
    }

    var handlers: [Handler] {
        OnCommand("add") { command, context in
            context.addMembers(try Self.keys(command), missing: .proceedWithout)
        }
        OnCommand("remove") { command, context in context.removeMembers(try Self.keys(command)) }
        OnCommand("rename") { command, context in context.rename(to: command.text) }
        OnCommand("describe") { command, context in context.setDescription(command.text) }
        OnCommand("picture") { _, context in
            context.setImage(OutgoingImage(bytes: Self.picture, mediaType: "image/png"))
        }
        OnCommand("admins") { command, context in
            context.setAdmins([context.account] + (try Self.keys(command)))
        }
        OnCommand("found") { command, context in context.createGroup("second", with: try Self.keys(command)) }
        OnCommand("leave") { _, context in context.leave() }
        OnCommand("disband") { _, context in context.disband() }
        OnCommand("history") { _, context in
            let chats = context.services.chats
            let newest = try await chats.recentMessages(in: context.chatID, limit: 2)
            let older = try await chats.recentMessages(in: context.chatID, before: newest.first, limit: 2)
            let lines = (older + newest).map { "\($0.content):\($0.delivery)" }
            context.send(lines.joined(separator: " "))
        }
        OnProposal(.departure) { proposal, context in context.send("\(proposal.sender.hex) wants to leave") }
        // Only a bot with such a handler gets outcomes, which the tests read from the account's events.
        OnOutcome { _, _ in }
    }
}

@Suite(.bounded)
struct GroupEffectLabTests {
    private struct Setup {
        let lab: GroupLab
        let alice: LabMember
        let bob: LabMember
        let bot: LabMember
        let chat: ChatID

        init(seed: UInt64, groupProtocol: GroupProtocol = .v1) async throws {
            lab = try GroupLab(seed: seed, groupProtocol: groupProtocol)
            alice = try await lab.member("alice")
            bob = try await lab.member("bob")
            bot = try await lab.bot(KeeperBot.self)
            chat = try await alice.create("lab", inviting: [bot])
            try await alice.perform(.setGroupAdmins(chatID: chat, admins: [alice.publicKey, bot.publicKey]))
        }

        /// Alice's view of the group after a command of hers.
        func command(_ text: String) async throws -> AppState.ChatSummary? {
            try await alice.say(text, in: chat)
            try await lab.advance(by: .seconds(1))
            return try await alice.summary(of: chat)
        }

        /// The outcomes of the bot's changes of groups, in order, after some time.
        func changes() async throws -> [(name: String, chat: ChatID)] {
            try await lab.advance(by: .seconds(10))
            return bot.events.compactMap { event in
                guard case .outcome(let outcome) = event.content, outcome.result.messageID == nil else { return nil }
                return (name: "\(outcome.kind) \(outcome.result.name)", chat: event.chatID)
            }
        }
    }

    @Test func botChangesItsGroup() async throws {
        let setup = try await Setup(seed: 31)
        let (alice, bob, bot) = (setup.alice, setup.bob, setup.bot)
        _ = try await setup.command("/add \(bob.publicKey.hex)")
        #expect(alice.commits.last?.added == [bob.publicKey])
        #expect(try await bob.summary(of: setup.chat)?.isActive == true)
        #expect(try await setup.command("/rename kitchen")?.name == "kitchen")
        #expect(try await setup.command("/describe where we cook")?.description == "where we cook")
        #expect(try await setup.command("/picture")?.imageHash != nil)
        _ = try await setup.command("/admins")
        #expect(alice.commits.last?.adminsRemoved == [alice.publicKey])
        _ = try await setup.command("/remove \(bob.publicKey.hex)")
        #expect(alice.commits.last?.removed == [bob.publicKey])
        #expect(alice.commits.allSatisfy { $0.committer == bot.publicKey || $0.isOwn })
        let changes = try await setup.changes()
        let names = changes.map { $0.name }
        let expected: Set<String> = [
            "add_group_members done", "rename_group done", "set_group_description done", "set_group_image done",
            "set_group_admins done", "remove_group_members done",
        ]
        #expect(Set(names) == expected && names.count == expected.count, "\(names)")
        #expect(changes.allSatisfy { $0.chat == setup.chat })
    }

    @Test func failedChangesTellTheBot() async throws {
        let setup = try await Setup(seed: 36)
        try await setup.alice.perform(.setGroupAdmins(chatID: setup.chat, admins: [setup.alice.publicKey]))
        for text in ["/rename x", "/describe x", "/admins", "/add \(setup.bob.publicKey.hex)"] {
            _ = try await setup.command(text)
        }
        let names = try await setup.changes().map { $0.name }
        let expected: Set<String> = [
            "rename_group failed", "set_group_description failed", "set_group_admins failed",
            "add_group_members failed",
        ]
        #expect(Set(names) == expected && names.count == expected.count, "\(names)")
        #expect(try await setup.alice.summary(of: setup.chat)?.name == "lab")
    }

    @Test func botDisbandsItsGroup() async throws {
        let setup = try await Setup(seed: 37, groupProtocol: .v2)
        try await setup.lab.advance(by: .seconds(10))
        _ = try await setup.command("/disband")
        let names = try await setup.changes().map { $0.name }
        #expect(names == ["disband_group done"])
        let summary = try await setup.alice.summary(of: setup.chat)
        #expect(summary?.isActive == false && summary?.convergence == .disbanded)
    }

    @Test func botFoundsGroup() async throws {
        let setup = try await Setup(seed: 32)
        _ = try await setup.command("/found \(setup.bob.publicKey.hex)")
        let groups = try await setup.bob.state().chatList
        #expect(groups.map(\.name) == ["second"])
        let changes = try await setup.changes()
        #expect(changes.map { $0.name } == ["create_group_chat done"])
        #expect(changes.map { $0.chat } == groups.map(\.chatID))
    }

    @Test func botLeavesItsGroup() async throws {
        let setup = try await Setup(seed: 33)
        _ = try await setup.command("/leave")
        try await setup.lab.advance(by: .seconds(20))
        #expect(setup.alice.commits.last?.left == [setup.bot.publicKey])
        #expect(try await setup.bot.summary(of: setup.chat)?.isActive == false)
        let names = try await setup.changes().map { $0.name }
        #expect(names == ["leave_group done"])
    }

    @Test func botLearnsOfDepartures() async throws {
        let setup = try await Setup(seed: 34)
        try await setup.alice.add([setup.bob], to: setup.chat)
        setup.bob.begin(.leaveGroup(chatID: setup.chat))
        try await setup.lab.advance(by: .seconds(20))
        #expect(setup.alice.heard(in: setup.chat) == ["\(setup.bob.publicKey.hex) wants to leave"])
        #expect(setup.alice.commits.last?.left == [setup.bob.publicKey])
    }

    @Test func historyHasPagesAndDelivery() async throws {
        let setup = try await Setup(seed: 35)
        for text in ["one", "two", "three"] {
            try await setup.alice.say(text, in: setup.chat)
            try await setup.lab.advance(by: .seconds(2))
        }
        _ = try await setup.command("/history")
        #expect(
            setup.alice.heard(in: setup.chat)
                == ["one:received two:received three:received /history:received"])
        try await setup.lab.advance(by: .seconds(2))
        _ = try await setup.command("/history")
        // The bot's first answer is among the newest messages now.
        #expect(setup.alice.heard(in: setup.chat).last?.contains(":sent") == true)
    }
}

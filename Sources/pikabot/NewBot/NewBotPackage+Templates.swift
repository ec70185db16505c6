extension NewBotPackage {
    var manifest: String {
        """
        // swift-tools-version: 6.2
        import PackageDescription

        func pikabot(_ product: String) -> Target.Dependency {
            .product(name: product, package: \(PikabotSource.literal(source.identity)))
        }

        let package = Package(
            name: "\(name.text)",
            platforms: [.macOS(.v15)],
            products: [.executable(name: "\(name.text)", targets: ["\(name.program)"])],
            dependencies: [
                \(source.dependency)
            ],
            targets: [
                .target(name: "\(name.type)", dependencies: [pikabot("BotKit")]),
                .executableTarget(name: "\(name.program)", dependencies: ["\(name.type)", pikabot("BotProgram")]),
                .testTarget(name: "\(name.tests)", dependencies: ["\(name.type)", pikabot("BotTesting")]),
            ]
        )

        """
    }

    var bot: String {
        """
        import BotKit

        /// Answers `/ping`, and greets members who mention it in a group.
        package struct \(name.type): Bot {
            package static let name = "\(name.text)"

            package init(settings: BotSettings) {}

            package var handlers: [Handler] {
                OnCommand("ping") { _, context in
                    context.reply("pong")
                }
                OnMessage(.mention && .group) { message, context in
                    context.reply("hello, \\(message.sender.npub)")
                }
            }
        }

        """
    }

    var program: String {
        """
        import BotProgram
        import \(name.type)

        @main
        struct \(name.program) {
            static func main() async {
                await BotProgram.run(bots: \(name.type).self)
            }
        }

        """
    }

    var tests: String {
        """
        import BotTesting
        import \(name.type)
        import Testing

        /// Complete encrypted groups in one process, on a manual clock.
        @Suite struct \(name.tests) {
            @Test func answersPing() async throws {
                let lab = try GroupLab(seed: 1)
                let alice = try await lab.member("alice")
                let bot = try await lab.bot(\(name.type).self)
                try await alice.create("group", inviting: [bot])
                try await alice.say("/ping")
                try await lab.expect(bot, replied: "pong")
            }

            @Test func greetsOnlyOnMention() async throws {
                let lab = try GroupLab(seed: 2)
                let alice = try await lab.member("alice")
                let bot = try await lab.bot(\(name.type).self)
                try await alice.create("group", inviting: [bot])
                try await alice.say("good morning")
                try await alice.say("and you, @\\(bot.publicKey.npub)?")
                try await lab.expect(bot, replied: "hello, \\(alice.publicKey.npub)")
                #expect(alice.heard(from: bot).count == 1)
            }
        }

        """
    }

    var configuration: String {
        """
        # Configuration for `swift run \(name.text) run \(name.text).yaml`; paths are relative to this file.
        # `swift run \(name.text) check \(name.text).yaml` shows every default.
        version: 1
        # The relay of `pikabot relay` on this machine. Replace it with the relays of the bot's users.
        relays: [ws://127.0.0.1:3334]
        state: { directory: ./state }
        accounts:
          - name: \(name.text)
            # Anyone with this file can act as the bot. Keep a backup outside this machine.
            key: { file: \(keyFile) }
            # Who may invite the bot to a group: anyone, nobody, or allowlist with from: [npub1…].
            invites: { accept: anyone }
            bots:
              - use: \(name.text)

        """
    }
}

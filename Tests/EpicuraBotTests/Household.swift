import Appliance
import BotDispatch
import BotKit
import EpicuraSimulator
import Foundation
import PikaCore
import Testing

@testable import BotTesting
@testable import EpicuraBot

/// A household in the lab: two persons, the bot in their group and in a private chat, and the simulator's cloud.
struct Household {
    let lab: GroupLab
    let cloud: HouseholdCloud
    let radio: PairingRadio
    let connections = ScriptedConnections()
    let alice: LabMember
    let bob: LabMember
    let bot: LabMember
    let group: ChatID
    /// Alice's private chat with the bot.
    let direct: ChatID
    let folder: String

    static let passphrase = "correct horse"

    /// - Parameter isReady: Whether Alice has logged in and paired an appliance.
    init(
        seed: UInt64, settings: [String: BotSettings] = [:], policy: BotPolicy = BotPolicy(),
        groupProtocol: GroupProtocol = .v1, isReady: Bool = true
    ) async throws {
        lab = try GroupLab(seed: seed, groupProtocol: groupProtocol)
        let cloud = HouseholdCloud(clock: lab.clock, generator: SeededGenerator(seed: seed, stream: "cloud"))
        self.cloud = cloud
        radio = PairingRadio(passphrase: Self.passphrase) { try cloud.claimToken("A1") }
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("epicura-\(UUID().uuidString)").path
        alice = try await lab.member("alice")
        bob = try await lab.member("bob")
        let standard: [String: BotSettings] = [
            "cloud": "https://api.epicura.example", "pairing": .array([.string("epicura-pairing")]),
        ]
        let all = standard.merging(settings) { _, new in new }
        let entry = LabBots.Entry(try EpicuraBot(settings: .object(all)), label: "epicura", policy: policy)
        var bots = LabBots(
            [entry], services: BotServices(http: cloud, programs: radio, connections: connections))
        bots.databaseFolder = folder
        bot = try await lab.bots("epicura", bots)
        group = try await alice.create("family", inviting: [bob, bot])
        try await lab.advance(by: .seconds(5))
        direct = try await alice.create("DM", inviting: [bot])
        try await lab.advance(by: .seconds(5))
        if isReady {
            try await logIn()
            try await pair()
        }
    }

    /// Removes the database files.
    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    // MARK: Chats

    /// Sends a message, and lets two seconds pass.
    @discardableResult
    func say(_ text: String, by member: LabMember? = nil, in chat: ChatID? = nil) async throws -> EventID {
        let id = try await (member ?? alice).say(text, in: chat ?? group)
        try await lab.advance(by: .seconds(2))
        return id
    }

    /// What the bot has written in a chat, in order.
    func heard(in chat: ChatID? = nil) -> [String] { alice.heard(in: chat ?? group, from: bot) }

    /// What the bot writes after a message.
    func answers(to text: String, by member: LabMember? = nil, in chat: ChatID? = nil) async throws -> [String] {
        let before = heard(in: chat).count
        try await say(text, by: member, in: chat)
        return Array(heard(in: chat).dropFirst(before))
    }

    /// The bot's messages that Alice got, of any kind.
    var messages: [MessageEvent] {
        alice.events.compactMap { event in
            guard case .message(let message) = event.content, message.sender == bot.publicKey else { return nil }
            return message
        }
    }

    var files: [String] { messages.flatMap { $0.media.map { $0.filename } } }

    // MARK: Preparation

    func logIn() async throws {
        try await say("/login", in: direct)
        try await say("+91 98765 43210", in: direct)
        try await say(try cloud.code(), in: direct)
        if let connection = connections.connections.last { try await lab.run { await connection.connect() } }
        try await deliver()
    }

    func pair() async throws {
        try await say("/pair", in: direct)
        try await say("1", in: direct)
        try await say("Home\n\(Self.passphrase)", in: direct)
        try await lab.advance(by: .seconds(2))
    }

    // MARK: Appliance

    /// Lets the appliance cook, and delivers its events.
    func deliver(afterCooking seconds: Int64 = 0) async throws {
        guard let connection = connections.connections.last else { return }
        for message in try cloud.cook(seconds: seconds) {
            try await lab.run { await connection.deliver(message) }
        }
        try await lab.advance(by: .seconds(1))
    }

    /// Cooks in steps of this many seconds until the appliance is idle.
    func cookToTheEnd(by seconds: Int64 = 60) async throws {
        for _ in 0..<100 where cloud.cloud.appliances.first?.state == .cooking {
            try await deliver(afterCooking: seconds)
        }
        try await deliver()
        try await lab.advance(by: .seconds(5))
    }

    var starts: Int { cloud.cloud.appliances.reduce(0) { $0 + $1.starts } }
    var stops: Int { cloud.cloud.appliances.reduce(0) { $0 + $1.stops } }
}

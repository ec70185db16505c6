import Nostr
import Testing

@testable import Daemon
@testable import PikaCore

@Suite struct CommandStepTests {
    private static func machine() -> DaemonMachine {
        DaemonMachine(DaemonSettings(core: CoreConfiguration(relays: [])), account: MachineFixtures.peer)
    }

    private static func context(key: String? = nil) -> CommandContext {
        CommandContext(client: DaemonClient(.socket), key: key, nowMilliseconds: 0) { "id" }
    }

    @Test func groupsRequireRelays() {
        var machine = Self.machine()
        let command = DaemonCommand.initGroup(peer: MachineFixtures.peer.hex, name: "n")
        #expect(throws: DaemonFailure(.badRelays, "no relays configured")) {
            _ = try machine.begin(command, Self.context())
        }
    }

    @Test func newGroupsMayNameTheirProtocol() throws {
        let settings = DaemonSettings(core: CoreConfiguration(relays: [try RelayURL("wss://relay.example")]))
        var machine = DaemonMachine(settings, account: MachineFixtures.peer)
        let peer = MachineFixtures.peer
        for (text, expected) in [(nil, nil), ("v1", GroupProtocol.v1), ("auto", .auto)] as [(String?, GroupProtocol?)] {
            let command = DaemonCommand.initGroup(peer: peer.hex, name: "n", groupProtocol: text)
            guard case .request(let action, _, _, _) = try machine.begin(command, Self.context()) else {
                Issue.record("expected a request to the core")
                return
            }
            #expect(action == .createChat(peer: peer, name: "n", groupProtocol: expected))
        }
        let wrong = DaemonCommand.initGroup(peer: peer.hex, name: "n", groupProtocol: "v3")
        #expect(throws: DaemonFailure(.badRequest, "protocol: expected one of v1, v2, auto, found v3")) {
            _ = try machine.begin(wrong, Self.context())
        }
    }

    @Test func withdrawalsOfRefusedSendersAreDropped() throws {
        let withdrawn = WithdrawnEvent(
            id: try EventID(hex: String(repeating: "a", count: 64)), sender: MachineFixtures.peer, kind: .chatMessage,
            epoch: 1, wrapper: nil,
            isRestored: false)
        let event = CoreEvent(inboxID: 1, chatID: "c", receivedAt: 0, content: .withdrawn(withdrawn))
        var machine = Self.machine()
        guard case .announce(let events) = machine.receive(event) else {
            Issue.record("expected an event")
            return
        }
        #expect(events.map(\.type) == ["withdrawn"])
        let stranger = try PublicKey(hex: "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
        var strict = DaemonMachine(
            DaemonSettings(core: CoreConfiguration(relays: []), allowed: [stranger]), account: MachineFixtures.peer)
        guard case .announce(let none) = strict.receive(event) else {
            Issue.record("expected no event")
            return
        }
        #expect(none.isEmpty)
    }

    @Test func unknownInvitationsRequireAKey() throws {
        var machine = Self.machine()
        let command = DaemonCommand.acceptWelcome(id: String(repeating: "a", count: 64))
        #expect(throws: DaemonFailure.self) { _ = try machine.begin(command, Self.context()) }
        guard case .request(.acceptInvite, let key, nil, _) = try machine.begin(command, Self.context(key: "k")) else {
            Issue.record("expected a request to the core")
            return
        }
        #expect(key == "k")
    }

    @Test func announcesHeldJoinsBeforeRefusal() throws {
        var machine = Self.machine()
        let command = DaemonCommand.acceptWelcome(id: String(repeating: "a", count: 64))
        guard case .request(_, _, _, let next) = try machine.begin(command, Self.context(key: "k")) else {
            Issue.record("expected a request to the core")
            return
        }
        guard case .hold = machine.receive(MachineFixtures.join(3, "c")) else {
            Issue.record("expected the join to be held back")
            return
        }
        guard case .announceJoins(let joins, let refuse) = try next(&machine, nil) else {
            Issue.record("expected the held joins")
            return
        }
        #expect(joins.map(\.inboxID) == [3])
        #expect(throws: DaemonFailure(.mdkError, DaemonFailure.coreTimeout.message)) { _ = try refuse(&machine) }
    }

    @Test func reportsLaterEndAfterFailedCommand() throws {
        var machine = Self.machine()
        var state = AppState()
        state.activeCall = MachineFixtures.call(.active)
        #expect(machine.receive(state) == true)
        #expect(machine.receiveCall().count == 2)
        guard case .request(.endCall, _, _, let next) = try machine.begin(.endCall("id", reason: "r"), Self.context())
        else {
            Issue.record("expected a request to the core")
            return
        }
        #expect(throws: DaemonFailure.coreTimeout) { _ = try next(&machine, nil) }
        state.activeCall = MachineFixtures.call(.ended(reason: "gone"))
        #expect(machine.receive(state) == true)
        guard case .announce(.callSessionEnded(callID: _, reason: "gone"))? = machine.receiveCall().first else {
            Issue.record("expected the end of the call")
            return
        }
    }

    @Test func unknownGroupsAreNotAnnounced() {
        var machine = Self.machine()
        guard case .announce(let events) = machine.receive(MachineFixtures.join(1, "c")) else {
            Issue.record("expected a reaction without a delay")
            return
        }
        #expect(events.isEmpty)
    }
}

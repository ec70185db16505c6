import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// State stored while chat ids were nostrGroupIDs.
@Suite struct StoredChatIDsTests {
    /// A row in version 1 of the payload.
    private static func oldForm(_ row: InboxRow, _ nostrGroupID: String) throws -> InboxRow {
        guard case .object(var json) = try JSONValue(json: row.payload) else {
            throw AppCoreError(.corruptState, "no payload")
        }
        json["chat"] = .string(nostrGroupID)
        return InboxRow(id: row.id, payload: JSONValue.object(json).json())
    }

    private static func answer(_ chat: String) -> Secret {
        Secret(JSONValue.object(["v": 1, "number": 1, "chat": .string(chat)]).json())
    }

    @Test func oldRowsAreMigratedAtStart() throws {
        var world = try ReducerWorld.group(2)
        world.say(0, "waiting")
        world.settle()
        let nostrGroupID = try #require(world[1].group?.data.nostrGroupIDHex)
        let chatID = world[1].chatID
        #expect(chatID.rawValue != nostrGroupID)
        let before = world[1].delivered
        let unknown = String(repeating: "7", count: 64)
        var state = world[1].durable.state
        state.inbox = try state.inbox.map { try Self.oldForm($0, nostrGroupID) }
        let lastID = try #require(state.inbox.last?.id)
        state.inbox.append(try Self.oldForm(InboxRow(id: lastID + 1, payload: state.inbox[0].payload), unknown))
        let (answer, timeline) = (MemoName(.answer, [1]), MemoName(.callTimeline, [UInt8]()))
        let entry = AppState.CallTimelineEntry(
            callID: "c", chatID: ChatID(rawValue: nostrGroupID), peer: world[0].key, at: 1, event: .connected)
        state.memos[answer] = Self.answer(nostrGroupID)
        state.memos[timeline] = CallTimeline.memo([entry])
        world.accounts[1].durable.state = state
        world.accounts[1].delivered = []

        try world.restart(1)
        #expect(Array(world[1].delivered.prefix(before.count)) == before)
        #expect(world[1].delivered.last?.chatID.rawValue == unknown, "an unknown id must stay unchanged")
        let entries = world[1].model.state.callTimeline
        #expect(entries.map(\.chatID) == [chatID])
        let durable = world[1].durable.state
        let rows = durable.inbox.sorted { $0.id < $1.id }
        #expect(rows.dropLast().map { CoreEvent(inboxID: $0.id, payload: $0.payload) } == before.map(Optional.some))
        #expect(durable.memos[timeline].flatMap { CallTimeline.entries(memo: $0) } == entries)
        #expect(durable.memos[answer].flatMap { IdempotentOutcomes.Entry(memo: $0)?.outcome } == .done(chatID: chatID))

        // A second start finds nothing to migrate.
        world.accounts[1].delivered = []
        try world.restart(1)
        #expect(world[1].model.groups.storedChatIDs.changes.isEmpty && world[1].durable.state.inbox.count == rows.count)
        #expect(Array(world[1].delivered.prefix(before.count)) == before)
    }

    @Test func ambiguousRowsAreNotDelivered() throws {
        var routes = GroupRoutes()
        let id = try #require(Bytes32([UInt8](repeating: 1, count: 32)))
        for group in [[1], [2]] as [GroupID] { _ = routes.set([id], of: group, enteredAt: 0) }
        let payload = JSONValue.object(["v": 1, "chat": .string(id.hex)]).json()
        var stored = StoredState()
        stored.inbox = [InboxRow(id: 4, payload: payload), InboxRow(id: 5, payload: [1])]
        stored.memos[MemoName(.answer, [1])] = Self.answer(id.hex)
        let migrated = StoredChatIDs(migrating: &stored, routes)
        #expect(stored.inbox.map(\.id) == [5] && migrated.ambiguousInboxRows == [4])
        #expect(migrated.changes.count == 1)
        guard case .deleteInbox(4)? = migrated.changes.first else {
            Issue.record("expected the row to be deleted")
            return
        }
    }
}

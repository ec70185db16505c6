import Nostr
import PikaCore
import Testing

@testable import MLS

/// One requirement of every `CoreStore`, checked on a new store.
struct ConformanceCheck: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let run: @Sendable (any CoreStore) async throws -> Void

    init(_ name: String, _ run: @escaping @Sendable (any CoreStore) async throws -> Void) {
        self.testDescription = name
        self.run = run
    }

    static let all: [ConformanceCheck] = stateChecks + groupChecks + messageChecks + mediaChecks + queueChecks

    private static let stateChecks = [
        ConformanceCheck("a new store is empty") { store in
            let state = try await store.load()
            #expect(state.keyPackages.isEmpty && state.groups.isEmpty && state.waiting.isEmpty && state.invites.isEmpty)
            #expect(state.inbox.isEmpty && state.outbox.isEmpty && state.cursors.isEmpty && state.seen.isEmpty)
            try await store.commit([])
        },
        ConformanceCheck("key packages are stored, replaced and deleted") { store in
            let kept = Sample.keyPackage(1)
            let deleted = Sample.keyPackage(2)
            try await store.commit([.putKeyPackage(kept), .putKeyPackage(deleted), .putKeyPackage(kept)])
            var changed = kept
            changed.notAfter = 77
            changed.bundle = Sample.secret(5)
            try await store.commit([.putKeyPackage(changed), .deleteKeyPackage(reference: deleted.reference)])
            try await store.commit([.deleteKeyPackage(reference: [1, 2, 3])])
            let found = try await store.load().keyPackages
            #expect(found == [kept])
            #expect(found.first?.bundle == changed.bundle)
            #expect(found.first?.notAfter == 77)
            #expect(found.first?.slot == kept.slot)
            #expect(found.first?.createdAt == 5)
        },
        ConformanceCheck("cursors only move forward") { store in
            try await store.commit([.advanceCursor(name: "a", to: 10), .advanceCursor(name: "b", to: -5)])
            try await store.commit([.advanceCursor(name: "a", to: 9), .advanceCursor(name: "b", to: .max)])
            #expect(try await store.load().cursors == ["a": 10, "b": .max])
        },
        ConformanceCheck("seen events load newest first, each once") { store in
            let ids = try (0..<5).map { try Sample.id($0) }
            try await store.commit(ids.enumerated().map { .putSeen($1, at: UnixTime(Int64($0))) })
            try await store.commit([.putSeen(ids[4], at: 9)])
            #expect(try await store.load().seen == ids.reversed())
        },
        ConformanceCheck("refused and seen events are separate") { store in
            let ids = try (0..<4).map { try Sample.id($0) }
            try await store.commit(ids.map { .putRefused($0, at: 1) } + [.putRefused(ids[0], at: 2)])
            try await store.commit([.putSeen(ids[1], at: 3)])
            let state = try await store.load()
            #expect(state.refused == ids.reversed() && state.seen == [ids[1]])
        },
        ConformanceCheck("waiting events load oldest first") { store in
            let events = (0..<3).map { WaitingEvent(event: Sample.event("\($0)"), arrivedAt: UnixTime(Int64(30 - $0))) }
            try await store.commit(events.map { .putWaiting($0) } + [.putWaiting(events[0])])
            #expect(try await store.load().waiting == events.reversed())
            try await store.commit([.deleteWaiting(events[1].event.id), .deleteWaiting(try Sample.id(1))])
            #expect(try await store.load().waiting == [events[2], events[0]])
        },
        ConformanceCheck("invitations load oldest first") { store in
            let invites = try (0..<3).map { StoredInvite(wrapper: try Sample.id($0), rumor: Sample.rumor("\($0)")) }
            try await store.commit(invites.map { .putInvite($0) } + [.putInvite(invites[0])])
            #expect(try await store.load().invites == invites)
            try await store.commit([.deleteInvite(wrapper: invites[0].wrapper)])
            #expect(try await store.load().invites == Array(invites[1...]))
        },
        ConformanceCheck("memos are written, replaced and deleted by kind and key") { store in
            let first = MemoName(.groupIntent, [1])
            let second = MemoName(.groupIntent, [1, 2])
            let other = MemoName(.reseal, [1])
            try await store.commit([
                .putMemo(first, Sample.secret(3)), .putMemo(second, Sample.secret(0)),
                .putMemo(other, Sample.secret(9)),
            ])
            try await store.commit([.putMemo(first, Sample.secret(7)), .putMemo(other, nil), .putMemo(other, nil)])
            #expect(try await store.load().memos == [first: Sample.secret(7), second: Sample.secret(0)])
        },
        ConformanceCheck("values are written, replaced and deleted by scope and key") { store in
            try await store.commit([
                .putValue(scope: "a", key: "bc", value: [1]), .putValue(scope: "ab", key: "c", value: []),
                .putValue(scope: "a", key: "gone", value: [3]),
            ])
            try await store.commit([
                .putValue(scope: "a", key: "bc", value: [4]), .putValue(scope: "a", key: "gone", value: nil),
                .putValue(scope: "never", key: "there", value: nil),
            ])
            #expect(try await store.value(scope: "a", key: "bc") == [4])
            #expect(try await store.value(scope: "ab", key: "c") == [])
            #expect(try await store.value(scope: "a", key: "gone") == nil)
        },
    ]

    private static let groupChecks = [
        ConformanceCheck("groups keep header and records") { store in
            let group = Sample.bytes(1)
            let other = Sample.bytes(2)
            let first: [GroupRecord: Secret?] = [
                .core: Sample.secret(1), .node(0): Sample.secret(2), .epoch(.max): Sample.secret(3),
                .treeSecret(epoch: 1, node: 7): Secret([]), .ratchets(epoch: 1, leaf: .max): Sample.secret(5),
            ]
            try await store.commit([
                .updateGroup(key: group, Sample.changes(first, replacesAll: true)),
                .putGroupHeader(key: group, header: Sample.secret(6)),
                .putGroupHeader(key: other, header: Sample.secret(7)),
                .updateGroup(key: other, Sample.changes([.core: Sample.secret(8)])),
            ])
            try await store.commit([
                .putGroupHeader(key: group, header: Sample.secret(9)),
                .updateGroup(key: group, Sample.changes([.core: Sample.secret(10), .node(0): nil, .node(9): nil])),
            ])
            let groups = try await store.load().groups
            let found = try #require(groups.first { $0.key == group })
            #expect(groups.count == 2)
            #expect(found.header == Sample.secret(9))
            var expected = first.compactMapValues { $0 }
            expected[.core] = Sample.secret(10)
            expected[.node(0)] = nil
            #expect(found.records == expected)
        },
        ConformanceCheck("replacing all records deletes earlier ones") { store in
            let group = Sample.bytes(1)
            try await store.commit([
                .putGroupHeader(key: group, header: Sample.secret(1)),
                .updateGroup(key: group, Sample.changes([.core: Sample.secret(2), .epoch(0): Sample.secret(3)])),
            ])
            try await store.commit([
                .updateGroup(key: group, Sample.changes([.epoch(1): Sample.secret(4)], replacesAll: true))
            ])
            let found = try #require(try await store.load().groups.first)
            #expect(found.records == [.epoch(1): Sample.secret(4)])
            #expect(found.header == Sample.secret(1))
        },
        ConformanceCheck("deleting a group deletes header, records and history, in order") { store in
            let group = Sample.bytes(1)
            let message = try Sample.message("x", in: 1)
            try await store.commit([
                .putGroupHeader(key: group, header: Sample.secret(1)),
                .updateGroup(key: group, Sample.changes([.core: Sample.secret(2)])), .putMessage(message),
                .deleteGroup(key: group),
            ])
            #expect(try await store.load().groups.isEmpty)
            #expect(try await store.messages(in: GroupID(group), before: nil, limit: 10).isEmpty)
            try await store.commit([
                .deleteGroup(key: group), .putGroupHeader(key: group, header: Sample.secret(3)),
            ])
            let found = try #require(try await store.load().groups.first)
            #expect(found.records.isEmpty)
            #expect(found.header == Sample.secret(3))
        },
    ]

    private static let messageChecks = [
        ConformanceCheck("a message round-trips, and a duplicate changes nothing") { store in
            let message = try Sample.message("caf\u{e9} \u{1F980}\n\"\\\u{0}\u{1}\u{7F}\u{2028}")
            var second = message
            second.epoch = 1
            second.isOwn = false
            try await store.commit([.putMessage(message), .putMessage(second)])
            try await store.commit([.putMessage(second)])
            #expect(try await store.messages(in: message.groupID, before: nil, limit: 10) == [message])
            var elsewhere = message
            elsewhere.groupID = GroupID(Sample.bytes(2))
            try await store.commit([.putMessage(elsewhere)])
            #expect(try await store.messages(in: elsewhere.groupID, before: nil, limit: 10) == [elsewhere])
            #expect(try await store.message(in: message.groupID, id: message.id) == message)
            #expect(try await store.message(in: elsewhere.groupID, id: message.id) == elsewhere)
            #expect(try await store.message(in: GroupID(Sample.bytes(3)), id: message.id) == nil)
            #expect(try await store.message(in: message.groupID, id: message.wrapper) == nil)
        },
        ConformanceCheck("withdrawn messages are hidden until they return") { store in
            let points = [1, 2].map { Bytes32(Sample.bytes($0)) }
            var messages: [StoredMessage] = []
            for number in 0..<4 {
                var message = try Sample.message("\(number)", at: UnixTime(Int64(100 + number)))
                message.point = number < 3 ? points[number % 2] : nil
                messages.append(message)
            }
            var elsewhere = messages[0]
            elsewhere.groupID = GroupID(Sample.bytes(2))
            try await store.commit((messages + [elsewhere]).map { .putMessage($0) })
            let group = messages[0].groupID
            let (first, second) = (try #require(points[0]), try #require(points[1]))
            func shown() async throws -> [StoredMessage] {
                try await store.messages(in: group, before: nil, limit: 9).reversed()
            }
            #expect(try await shown() == messages)
            #expect(try await store.messages(in: group, atPoints: [second, first]) == Array(messages[0...2]))
            try await store.commit([.withdrawMessages(groupID: group, points: [first])])
            #expect(try await shown() == [messages[1], messages[3]])
            #expect(try await store.messages(in: elsewhere.groupID, before: nil, limit: 9) == [elsewhere])
            #expect(try await store.messages(in: group, atPoints: [first]) == [messages[0], messages[2]])
            #expect(try await store.message(in: group, id: messages[0].id) == messages[0])
            // Sent again by its author, on another branch and at another time.
            var again = messages[0]
            (again.point, again.epoch, again.time) = (second, 7, 200)
            try await store.commit([.reviveMessage(again), .reviveMessage(again)])
            #expect(try await shown() == [messages[1], messages[3], again])
            var moved = messages[2]
            (moved.point, moved.expiresAt) = (second, 90_000)
            try await store.commit([.moveMessage(moved)])
            #expect(try await shown() == [messages[1], moved, messages[3], again])
            try await store.commit([.withdrawMessages(groupID: group, points: [second])])
            #expect(try await shown() == [messages[3]])
            try await store.commit([.restoreMessages(groupID: group, points: [second])])
            #expect(try await shown() == [messages[1], moved, messages[3], again])
            // Only withdrawn messages return.
            var other = messages[1]
            other.epoch = 9
            try await store.commit([.reviveMessage(other)])
            #expect(try await shown().first == messages[1])
        },
        ConformanceCheck("only expired messages are deleted") { store in
            #expect(try await store.nextExpiry() == nil)
            var messages: [StoredMessage] = []
            let ends: [UnixTime?] = [nil, 500, 700, 900]
            for (number, end) in ends.enumerated() {
                var message = try Sample.message("\(number)", in: 1 + number % 2, at: UnixTime(Int64(100 + number)))
                message.expiresAt = end
                messages.append(message)
            }
            try await store.commit(messages.map { .putMessage($0) })
            func found() async throws -> [StoredMessage] {
                try await store.messages(in: GroupID(Sample.bytes(1)), before: nil, limit: 9)
                    + store.messages(in: GroupID(Sample.bytes(2)), before: nil, limit: 9)
            }
            #expect(try await found() == [messages[2], messages[0], messages[3], messages[1]])
            #expect(try await store.nextExpiry() == 500)
            try await store.commit([.deleteExpired(at: 499)])
            #expect(try await found().count == 4)
            try await store.commit([.deleteExpired(at: 700)])
            #expect(try await found() == [messages[0], messages[3]])
            #expect(try await store.nextExpiry() == 900)
            try await store.commit([.deleteExpired(at: .distantFuture - 1)])
            #expect(try await found() == [messages[0]])
            #expect(try await store.nextExpiry() == nil)
            // It may be stored again, because nothing of it is left.
            try await store.commit([.putMessage(messages[1])])
            #expect(try await found() == [messages[0], messages[1]])
        },
        ConformanceCheck("messages are ordered and kept by their stored time, not the rumor's") { store in
            var future = try Sample.message("future", in: 1, at: .distantFuture)
            future.time = 150
            let honest = try [100, 200].map { try Sample.message("\($0)", in: 1, at: $0) }
            try await store.commit(([future] + honest).map { .putMessage($0) })
            let found = try await store.messages(in: GroupID(Sample.bytes(1)), before: nil, limit: 9)
            #expect(found == [honest[1], future, honest[0]])
            #expect(
                try await store.messages(in: GroupID(Sample.bytes(1)), before: future.position, limit: 9) == [honest[0]]
            )
            #expect(try await store.surplus(MessageSurplus(before: 151), limit: 9) == 2)
        },
        ConformanceCheck("surplus messages are counted and deleted in batches") { store in
            var messages: [StoredMessage] = []
            for number in 0..<20 {
                messages.append(try Sample.message("\(number)", in: 1 + number % 2, at: UnixTime(Int64(100 + number))))
            }
            try await store.commit(messages.map { .putMessage($0) })
            func times() async throws -> [UnixTime] {
                let found =
                    try await store.messages(in: GroupID(Sample.bytes(1)), before: nil, limit: 99)
                    + store.messages(in: GroupID(Sample.bytes(2)), before: nil, limit: 99)
                return found.map(\.rumor.createdAt).sorted()
            }
            for rule in [MessageSurplus(), MessageSurplus(before: 100), MessageSurplus(beyondNewest: 10)] {
                #expect(try await store.surplus(rule, limit: 50) == 0)
                try await store.commit([.deleteSurplus(rule, limit: 50)])
            }
            let old = MessageSurplus(before: 106)
            #expect(try await store.surplus(old, limit: 50) == 6)
            #expect(try await store.surplus(old, limit: 4) == 4)
            try await store.commit([.deleteSurplus(old, limit: 4)])
            #expect(try await store.surplus(old, limit: 4) == 2)
            try await store.commit([.deleteSurplus(old, limit: 4), .deleteSurplus(old, limit: 4)])
            #expect(try await times() == (106...119).map { UnixTime($0) })
            let beyond = MessageSurplus(beyondNewest: 2)
            #expect(try await store.surplus(beyond, limit: 50) == 10)
            try await store.commit([.deleteSurplus(beyond, limit: 7)])
            #expect(try await times().count == 7)
            // Either condition suffices.
            let both = MessageSurplus(before: 117, beyondNewest: 2)
            #expect(try await store.surplus(both, limit: 50) == 4)
            try await store.commit([.deleteSurplus(both, limit: 50)])
            #expect(try await times() == [117, 118, 119])
            try await store.commit([
                .deleteSurplus(MessageSurplus(beyondNewest: 0), limit: 50), .putMessage(messages[1]),
            ])
            #expect(try await times() == [101])
        },
        ConformanceCheck("messages are paged newest first, also within a second") { store in
            var messages: [StoredMessage] = []
            for number in 0..<40 {
                messages.append(try Sample.message("\(number)", at: UnixTime(Int64(100 + number / 7))))
            }
            try await store.commit(messages.map { .putMessage($0) } + [.putMessage(try Sample.message("", in: 2))])
            let expected = messages.sorted { $0.position > $1.position }
            for limit in [1, 3, 7, 8, 40, 100] {
                var found: [StoredMessage] = []
                while true {
                    let page = try await store.messages(
                        in: GroupID(Sample.bytes(1)), before: found.last?.position, limit: limit)
                    #expect(page.count == min(limit, 40 - found.count))
                    if page.isEmpty { break }
                    found += page
                }
                #expect(found == expected)
            }
            #expect(try await store.messages(in: GroupID(Sample.bytes(1)), before: nil, limit: 0).isEmpty)
            #expect(try await store.messages(in: GroupID(Sample.bytes(3)), before: nil, limit: 5).isEmpty)
        },
    ]

    private static let mediaChecks = [
        ConformanceCheck("files of a message load in order, and a duplicate changes nothing") { store in
            let message = try Sample.message("with files")
            func media(_ index: Int, _ text: String) -> StoredMedia {
                StoredMedia(
                    groupID: message.groupID, messageID: message.id, index: index,
                    reference: Tag("imeta", "url https://x/\(text)", ""), keys: [Sample.secret(1), Sample.secret(2)])
            }
            let files = [media(1, "one"), media(0, "zero")]
            try await store.commit([.putMessage(message)] + files.map { .putMedia($0) } + [.putMedia(media(1, "two"))])
            #expect(try await store.media(in: message.groupID, message: message.id) == files.reversed())
            #expect(try await store.media(in: GroupID(Sample.bytes(2)), message: message.id).isEmpty)
            #expect(try await store.media(in: message.groupID, message: Sample.id(5)).isEmpty)
        },
        ConformanceCheck("files are deleted with the group") { store in
            let message = try Sample.message("with a file")
            let file = StoredMedia(
                groupID: message.groupID, messageID: message.id, index: 0, reference: Tag("imeta"), keys: [])
            try await store.commit([
                .putGroupHeader(key: message.groupID.bytes, header: Sample.secret(1)), .putMessage(message),
                .putMedia(file), .deleteGroup(key: message.groupID.bytes),
            ])
            #expect(try await store.media(in: message.groupID, message: message.id).isEmpty)
        },
    ]

    private static let queueChecks = [
        ConformanceCheck("inbox rows load in order and are deleted") { store in
            let rows = [7, 2, 5].map { InboxRow(id: $0, payload: Sample.bytes(Int($0), count: 300)) }
            try await store.commit(rows.map { .putInbox($0) } + [.putInbox(rows[0])])
            #expect(try await store.load().inbox == rows.sorted { $0.id < $1.id })
            try await store.commit([.deleteInbox(id: 2), .deleteInbox(id: 100)])
            #expect(try await store.load().inbox.map(\.id) == [5, 7])
        },
        ConformanceCheck("outbox rows load in order, count attempts and are deleted") { store in
            let rows = [try Sample.outboxRow("b", sequence: 2), try Sample.outboxRow("a", sequence: 1)]
            var second = rows[0]
            second.sequence = 9
            second.attempts = 0
            try await store.commit(rows.map { .putOutbox($0) } + [.putOutbox(second)])
            #expect(try await store.load().outbox == rows.reversed())
            try await store.commit([
                .countOutboxAttempt(id: "b"), .countOutboxAttempt(id: "b"), .countOutboxAttempt(id: "never"),
                .deleteOutbox(id: "a"),
            ])
            let found = try await store.load().outbox
            #expect(found.map(\.id) == ["b"])
            #expect(found.map(\.attempts) == [4])
            #expect(found.first?.relays.map(\.string) == ["wss://one.example/", "ws://two.example:7000"])
        },
        ConformanceCheck("outbox rows name the pending relays") { store in
            var rows = [try Sample.outboxRow("a", sequence: 1), try Sample.outboxRow("b", sequence: 2)]
            rows[1].leftover = OutboxRow.Leftover(settledAt: 5, relays: [rows[1].relays[0]])
            let leftover = OutboxRow.Leftover(settledAt: 1_800_000_000, relays: rows[0].relays)
            try await store.commit(
                rows.map { .putOutbox($0) }
                    + [.settleOutbox(id: "a", leftover), .settleOutbox(id: "never", leftover)])
            rows[0].leftover = leftover
            #expect(try await store.load().outbox == rows)
            rows[0].leftover?.relays.removeFirst()
            try await store.commit(
                rows[0].leftover.map { [.settleOutbox(id: "a", $0), .countOutboxAttempt(id: "a")] } ?? [])
            rows[0].attempts += 1
            #expect(try await store.load().outbox == rows)
        },
        ConformanceCheck("outbox rows keep every purpose and absent ids") { store in
            var rows: [OutboxRow] = []
            for (number, purpose) in OutboxRow.Purpose.allCases.enumerated() {
                rows.append(
                    OutboxRow(
                        id: "row \(number)", sequence: Int64(number), event: Sample.event("\(number)"), relays: [],
                        purpose: purpose))
            }
            try await store.commit(rows.map { .putOutbox($0) })
            #expect(try await store.load().outbox == rows)
        },
        ConformanceCheck("changes take effect in order") { store in
            let row = try Sample.outboxRow("x", sequence: 1)
            var again = row
            again.sequence = 2
            try await store.commit([
                .putInbox(InboxRow(id: 1, payload: [1])), .deleteInbox(id: 1),
                .putInbox(InboxRow(id: 1, payload: [2])), .putOutbox(row), .deleteOutbox(id: "x"), .putOutbox(again),
            ])
            let state = try await store.load()
            #expect(state.inbox == [InboxRow(id: 1, payload: [2])])
            #expect(state.outbox == [again])
        },
    ]
}

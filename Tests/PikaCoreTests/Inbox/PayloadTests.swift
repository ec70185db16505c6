import LiveTesting
import Nostr
import Testing

@testable import PikaCore

@Suite struct PayloadTests {
    private func events() throws -> [CoreEvent] {
        var random = SplitMix64(seed: 5)
        let one = KeyPair.generate(using: &random).publicKey
        let two = KeyPair.generate(using: &random).publicKey
        let id = try EventID(bytes: [UInt8](repeating: 9, count: 32))
        let session = CallSession(moqURL: "https://m", broadcastBase: "a/b", relayAuth: "capv1_", tracks: [.audio])
        let contents: [CoreEvent.Content] = [
            .message(
                MessageEvent(
                    id: id, sender: one, kind: Kind(rawValue: 65535), content: "\u{0}\"\\\n🦊\u{2028}",
                    tags: [Nostr.Tag(values: []), Nostr.Tag("e", "", "x")], createdAt: .distantFuture, epoch: .max)),
            .commit(
                CommitEvent(
                    id: id, committer: one, isOwn: true, epochBefore: .max - 1, epochAfter: .max, added: [one, two],
                    removed: [two], left: [two], oldName: "", newName: "é", newDescription: "d\"",
                    descriptionChanged: true, adminsAdded: [one], adminsRemoved: [],
                    newRelays: [ReducerWorld.relay], relaysChanged: true, disappearingSeconds: .max,
                    disappearingChanged: true, rolledBack: true, removedSelf: true)),
            .commit(
                CommitEvent(
                    id: id, committer: one, isOwn: false, epochBefore: 0, epochAfter: 1, added: [], removed: [],
                    left: [], oldName: "n", newName: "n", newDescription: "", descriptionChanged: false,
                    adminsAdded: [], adminsRemoved: [], newRelays: [], relaysChanged: false,
                    disappearingSeconds: nil, disappearingChanged: false, rolledBack: false, removedSelf: false)),
            .proposal(ProposalEvent(id: id, sender: two, change: .departure, epoch: .max, role: .member)),
            .proposal(ProposalEvent(id: id, sender: one, change: .removal(two), epoch: 0, role: nil)),
            .proposal(ProposalEvent(id: id, sender: one, change: .removal(nil), epoch: 1, role: .admin)),
            .proposal(ProposalEvent(id: id, sender: one, change: .addition(two), epoch: 1, role: .admin)),
            .proposal(ProposalEvent(id: id, sender: one, change: .addition(nil), epoch: 1, role: .admin)),
            .proposal(ProposalEvent(id: id, sender: one, change: .keyUpdate, epoch: 1, role: .member)),
            .proposal(ProposalEvent(id: id, sender: one, change: .groupData, epoch: 1, role: .admin)),
            .proposal(ProposalEvent(id: id, sender: one, change: .other, epoch: 1, role: .member)),
            .joined(JoinEvent(inviter: two, name: "n", epoch: 0, memberCount: 1000)),
            .withdrawn(
                WithdrawnEvent(
                    id: id, sender: one, kind: Kind(rawValue: 65535), epoch: .max, wrapper: id, isRestored: false)),
            .withdrawn(
                WithdrawnEvent(id: id, sender: one, kind: .reaction, epoch: 0, wrapper: nil, isRestored: true)),
            .feed(FeedItem(feed: "orders", id: "\u{0}é", payload: [0, 255, 0x22], name: "n", contentType: "a/b")),
            .feed(FeedItem(feed: "", id: "", payload: [])),
        ]
        let left: [PublicKey: InviteFailure] = [
            one: .keyPackage(.malformed(reason: "\"\u{0}")), two: .welcomeRefused(reason: "blocked: é"),
        ]
        let results: [ActionResult] = [
            .done, .published(messageID: id, relays: [ReducerWorld.relay]), .delivered(messageID: id, relays: []),
            .partlyDone(left: left), .failed(AppCoreError(.busy, "wait"), messageID: id),
            .failed(AppCoreError(.noKeyPackage, "", peers: [one: .missing, two: .noRelayAnswered])),
        ]
        let outcomes = results.map {
            CoreEvent.Content.outcome(OutcomeEvent(action: ActionID(rawValue: "b/\(id.hex)/0"), kind: "k", result: $0))
        }
        let bodies: [CallSignal.Body] = [
            .invite(session), .accept(session), .reject(reason: "busy"), .end(reason: ""),
        ]
        let calls = bodies.map {
            CoreEvent.Content.call(
                CallEvent(
                    id: id, sender: one, signal: CallSignal(callID: "c", timestampMilliseconds: .max, body: $0),
                    epoch: 3))
        }
        return (contents + outcomes + calls).enumerated().map {
            CoreEvent(inboxID: Int64($0.offset), chatID: "ab", receivedAt: 5, content: $0.element)
        }
    }

    @Test func everyEventRoundTrips() throws {
        for event in try self.events() { #expect(CoreEvent(inboxID: event.inboxID, payload: event.payload) == event) }
    }

    @Test func readsOlderProposals() throws {
        let hex = String(repeating: "0", count: 63) + "9"
        func change(_ fields: String) -> ProposalEvent.Change? {
            let text =
                #"{"v":1,"chat":"a","at":1,"type":"proposal","content":{"id":"\#(hex)","sender":"\#(hex)","epoch":"3","#
                + fields + "}}"
            guard case .proposal(let proposal)? = CoreEvent(inboxID: 1, payload: Array(text.utf8))?.content
            else { return nil }
            return proposal.change
        }
        #expect(change(#""departure":true"#) == .departure)
        #expect(change(#""departure":false"#) == .other)
        #expect(change(#""change":"removal","account":"\#(hex)""#) == .removal(try PublicKey(hex: hex)))
        for damaged in [#""change":"removal","account":"zz""#, #""change":"new""#, #""change":1"#, #""role":null"#] {
            #expect(change(damaged) == nil, "\(damaged)")
        }
    }

    @Test func refusesDamagedPayloads() throws {
        for event in try self.events() {
            let payload = event.payload
            for length in 0..<payload.count {
                #expect(CoreEvent(inboxID: 1, payload: Array(payload.prefix(length))) == nil)
            }
            for position in payload.indices {
                var changed = payload
                changed[position] ^= 0x15
                _ = CoreEvent(inboxID: 1, payload: changed)
            }
        }
        let garbage = [
            "", "null", "[]", "{}", #"{"v":2}"#, #"{"v":1,"chat":"a","at":1,"type":"other","content":{}}"#,
            #"{"v":1,"chat":"a","at":1,"type":"message","content":{}}"#,
            #"{"v":1,"chat":"a","at":1e300,"type":"message","content":{}}"#,
        ]
        for text in garbage { #expect(CoreEvent(inboxID: 1, payload: Array(text.utf8)) == nil, "\(text)") }
    }

    @Test func refusesMalformedCallSignals() {
        let valid = CallSignal(callID: "c", timestampMilliseconds: 1, body: .end(reason: "x")).content
        #expect(CallSignal(content: valid) != nil)
        for (old, new) in [
            (#""v":1"#, #""v":2"#), ("pika.call\"", "other\""), ("call.end", "call.ringing"), ("ts_ms", "ts"),
            ("reason", "why"), ("call_id", "id"),
        ] {
            let changed = valid.split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
            #expect(changed != valid)
            #expect(CallSignal(content: changed) == nil, "\(changed)")
        }
    }
}

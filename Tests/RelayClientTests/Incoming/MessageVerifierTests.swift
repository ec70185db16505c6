import LiveTesting
import Nostr
import PikaCore
import Synchronization
import Testing

@testable import RelayClient

struct MessageVerifierTests {
    private let verifier = MessageVerifier(VerifiedSignatures(capacity: 100))
    private let event = Author.alice.event("hello")
    private static let relay: RelayURL = {
        do { return try RelayURL("wss://relay.example") } catch { preconditionFailure("\(error)") }
    }()

    private func read(_ event: Event) -> Result<RelayMessage, RefusedMessage> {
        read(RelayMessage.event(subscription: "1", event).json())
    }

    private func read(_ json: [UInt8]) -> Result<RelayMessage, RefusedMessage> {
        verifier.read(json, from: Self.relay)
    }

    private func refusal(_ reason: RefusalReason) -> Result<RelayMessage, RefusedMessage> {
        .failure(RefusedMessage(reason: reason))
    }

    /// Notes of successive processes that crash.
    private final class Notes: CrashNotes {
        private let state = Mutex<(inFlight: [UInt8]?, quarantine: [UInt8]?)>((nil, nil))

        func readInFlight() -> [UInt8]? { state.withLock { $0.inFlight } }
        func readQuarantine() -> [UInt8]? { state.withLock { $0.quarantine } }
        func writeInFlight(_ bytes: [UInt8]) -> Bool {
            state.withLock { $0.inFlight = bytes }
            return true
        }
        func writeQuarantine(_ bytes: [UInt8]) -> Bool {
            state.withLock { $0.quarantine = bytes }
            return true
        }
    }

    @Test func refusesQuarantinedFrameUnread() throws {
        let notes = Notes()
        let json = RelayMessage.event(subscription: "1", event).json()
        for _ in 0..<2 { _ = CrashLedger(notes, now: 1).begin(frame: json, from: Self.relay) }
        let crashes = CrashLedger(notes, now: 1)
        let verifier = MessageVerifier(VerifiedSignatures(capacity: 100), crashes: crashes)
        #expect(verifier.read(json, from: Self.relay) == refusal(.quarantined))
        #expect(crashes.quarantine.first?.claimedID == event.id.hex)
        let other = RelayMessage.event(subscription: "1", Author.alice.event("other")).json()
        guard case .success = verifier.read(other, from: Self.relay) else {
            Issue.record("expected only the quarantined frame to be refused")
            return
        }
        #expect(notes.readInFlight() == [], "nothing may be in flight")
    }

    @Test func acceptsValidEvent() {
        #expect(read(event) == .success(.event(subscription: "1", event)))
        #expect(read(event) == .success(.event(subscription: "1", event)))
    }

    /// Several accounts of a process share the memory; a signature is known by all of them, an altered event by none.
    @Test func sharedMemoryAdmitsNoAlteredEvent() {
        let shared = VerifiedSignatures(capacity: 100)
        let (first, second) = (MessageVerifier(shared), MessageVerifier(shared))
        let own = Author.bob.event("own")
        first.trust(own)
        for (event, expected) in [
            (own, nil), (own.withForgedContent, RefusalReason.idMismatch), (event, nil),
            (event.withForgedContent, .idMismatch), (event.signedLike(own), .badSignature),
        ] {
            for verifier in [first, second] {
                let result = verifier.read(RelayMessage.event(subscription: "1", event).json(), from: Self.relay)
                if case .failure(let refused) = result {
                    #expect(refused.reason == expected)
                } else {
                    #expect(expected == nil)
                }
            }
        }
    }

    @Test func refusesAlteredContentOfKnownID() {
        #expect(read(event.withForgedContent) == refusal(.idMismatch))
        _ = read(event)
        #expect(read(event.withForgedContent) == refusal(.idMismatch))
    }

    @Test func refusesAlteredSignatureOfKnownID() {
        let forged = event.signedLike(Author.alice.event("other"))
        #expect(read(forged) == refusal(.badSignature))
        _ = read(event)
        #expect(read(forged) == refusal(.badSignature))
    }

    @Test func refusesOtherKey() {
        let bob = Author.bob.event("hello")
        let stolen = Event(
            id: bob.id, pubkey: bob.pubkey, createdAt: bob.createdAt, kind: bob.kind, tags: bob.tags,
            content: bob.content, signature: event.signature)
        #expect(read(stolen) == refusal(.badSignature))
    }

    @Test(arguments: [
        ("", RefusalReason.malformed), ("[]", .malformed), ("{}", .malformed), ("[\"EVENT\"]", .malformed),
        ("[\"EVENT\",\"s\",{}]", .malformed), ("[\"OK\",\"00\",true,\"\"]", .malformed),
        ("[\"HELLO\"]", .unknownMessage),
        ("[\"EOSE\",\"s\"] ,", .malformed), ("\u{0}\u{1}", .malformed), ("[\"NOTICE\",\"\u{1}\"]", .malformed),
    ])
    func refusesGarbage(text: String, reason: RefusalReason) {
        #expect(read(Array(text.utf8)) == refusal(reason))
    }

    @Test func refusesInvalidUTF8() {
        #expect(read(Array("[\"NOTICE\",\"".utf8) + [0xc3, 0x28] + Array("\"]".utf8)) == refusal(.malformed))
    }

    @Test func refusesDeepNesting() {
        #expect(read([UInt8](repeating: UInt8(ascii: "["), count: 1 << 20)) == refusal(.malformed))
    }

    @Test func messagesWithoutEventsPass() {
        #expect(
            read(Array("[\"OK\",\"\",false,\"x\"]".utf8)) == .success(.ok(nil, accepted: false, message: "x")))
        #expect(read(Array("[\"CLOSED\",\"1\"]".utf8)) == .success(.closed(subscription: "1", message: "")))
    }

    /// Frames of all kinds with changed, missing, repeated and truncated bytes: each is refused with a reason, or is
    /// valid. An accepted event has a valid id and signature.
    @Test func mutatedFramesAreRefusedOrValid() throws {
        var generator = SplitMix64(seed: 42)
        let events = (0..<8).map { index in
            Author.alice.event(
                String(repeating: "é\"\\\n", count: index), kind: 445,
                at: UnixTime(.random(in: 0...1 << 40, using: &generator)),
                tags: [Tag("h", "g\(index)"), Tag(values: []), Tag("e", "\u{1F600}", "x")])
        }
        let frames =
            events.map { RelayMessage.event(subscription: "12", $0).json() } + [
                RelayMessage.ok(events[0].id, accepted: false, message: "blocked: x").json(),
                RelayMessage.endOfStoredEvents(subscription: "3").json(),
                RelayMessage.closed(subscription: "4", message: "error: y").json(),
                RelayMessage.authentication(challenge: "challenge").json(),
                RelayMessage.count(subscription: "5", 12).json(), RelayMessage.notice("notice").json(),
            ]
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter())
        var (refused, passed) = ([RefusalReason: Int](), 0)
        for _ in 0..<10_000 {
            var frame = frames.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...3, using: &generator) { mutate(&frame, &generator) }
            switch read(frame) {
            case .failure(let reason): refused[reason.reason, default: 0] += 1
            case .success(let message):
                passed += 1
                if case .event(_, let event) = message { try event.verify() }
                _ = machine.receive(message)
            }
        }
        #expect(passed + refused.values.reduce(0, +) == 10_000)
        #expect(passed > 100)
        for reason in [RefusalReason.malformed, .unknownMessage, .idMismatch, .badSignature] {
            #expect(refused[reason, default: 0] > 10)
        }
    }

    private func mutate(_ frame: inout [UInt8], _ generator: inout SplitMix64) {
        guard !frame.isEmpty else { return }
        let place = Int.random(in: frame.indices, using: &generator)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: frame[place] = .random(in: 0...255, using: &generator)
        case 1: frame[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 2: frame.remove(at: place)
        case 3: frame.insert(frame[place], at: place)
        case 4: frame.removeSubrange(place...)
        default: frame[place] = Array("0123456789abcdef\"[]{},:\\".utf8).randomElement(using: &generator) ?? 0
        }
    }
}

import Nostr
import Testing

@testable import EmbeddedRelay

struct AcceptanceTests {
    private let now: UnixTime = 1_700_000_000

    private func verdict(
        _ event: Event, authenticated: Set<PublicKey> = [], loginRequired: Bool = false,
        _ change: (inout RelayLimits) -> Void = { _ in }
    ) -> Acceptance.Verdict {
        var limits = RelayLimits()
        change(&limits)
        return Acceptance(limits: limits, requireAuthentication: loginRequired)
            .verdict(on: event, authenticated: authenticated, now: now)
    }

    private func prefix(_ verdict: Acceptance.Verdict) -> MessagePrefix? {
        guard case .refuse(let refusal) = verdict else { return nil }
        return refusal.prefix
    }

    @Test func storesSignedEvents() {
        #expect(verdict(Author.alice.event("hello")) == .store)
    }

    @Test func broadcastsEphemeralKindsOnly() {
        #expect(verdict(Author.alice.event(kind: 20_000)) == .broadcast)
        #expect(verdict(Author.alice.event(kind: 29_999)) == .broadcast)
        #expect(verdict(Author.alice.event(kind: 19_999)) == .store)
        #expect(verdict(Author.alice.event(kind: 30_000)) == .store)
    }

    @Test func checksTheIDFirst() {
        let event = Author.alice.event("a", tags: [.expiration(at: 1)]).forged
        guard case .refuse(let refusal) = verdict(event) else { return #expect(Bool(false)) }
        #expect(refusal.prefix == .invalid)
        #expect(refusal.message.hasPrefix("invalid: event \(event.id): the id is not"))
    }

    @Test func refusesForeignSignature() {
        let event = Author.alice.event("a")
        let other = Author.bob.event("a")
        let forged = Event(
            id: event.id, pubkey: event.pubkey, createdAt: event.createdAt, kind: event.kind, tags: event.tags,
            content: event.content, signature: other.signature)
        #expect(prefix(verdict(forged)) == .invalid)
    }

    @Test func refusesExpiredEvents() {
        #expect(prefix(verdict(Author.alice.event(tags: [.expiration(at: now)]))) == .invalid)
        #expect(verdict(Author.alice.event(tags: [.expiration(at: now + 1)])) == .store)
    }

    @Test func boundsFutureTimesOnlyIfConfigured() {
        let event = Author.alice.event(at: now + 61)
        #expect(verdict(event) == .store)
        #expect(prefix(verdict(event) { $0.secondsIntoFuture = 60 }) == .invalid)
        #expect(verdict(event) { $0.secondsIntoFuture = 61 } == .store)
        #expect(prefix(verdict(Author.alice.event(at: .distantFuture)) { $0.secondsIntoFuture = 60 }) == .invalid)
    }

    @Test func boundsTags() {
        let event = Author.alice.event(tags: [Tag("a", "1"), Tag("b", "2"), Tag("c", "3")])
        #expect(verdict(event) { $0.tagsPerEvent = 3 } == .store)
        #expect(prefix(verdict(event) { $0.tagsPerEvent = 2 }) == .invalid)
    }

    @Test func refusesLoginsSentAsEvents() {
        #expect(prefix(verdict(Author.alice.event(kind: .clientAuthentication))) == .invalid)
    }

    @Test func requestsLoginWhenRequired() {
        let event = Author.alice.event()
        #expect(prefix(verdict(event, loginRequired: true)) == .authenticationRequired)
        #expect(verdict(event, authenticated: [Author.bob.publicKey], loginRequired: true) == .store)
    }

    @Test func acceptsProtectedEventsFromAuthorOnly() {
        let event = Author.alice.event(tags: [.protected])
        #expect(prefix(verdict(event)) == .authenticationRequired)
        #expect(prefix(verdict(event, authenticated: [Author.bob.publicKey])) == .restricted)
        #expect(verdict(event, authenticated: [Author.alice.publicKey, Author.bob.publicKey]) == .store)
    }
}

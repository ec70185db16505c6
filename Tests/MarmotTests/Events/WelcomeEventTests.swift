import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

struct WelcomeEventTests {
    /// An invitation and its invitee.
    private func invitation() throws -> (lab: Lab, newcomer: Lab.Newcomer, welcome: DueWelcome) {
        var lab = try Lab(2)
        let newcomer = try lab.newcomer()
        let welcomes = try lab.change(.add([newcomer.invitee]), by: 0)
        return (lab, newcomer, try #require(welcomes.first))
    }

    private func with(_ rumor: UnsignedEvent, _ name: String, _ values: [[String]]) -> UnsignedEvent {
        var rumor = rumor
        rumor.tags = rumor.tags.filter { $0.name != name } + values.map { Tag(values: [name] + $0) }
        return rumor
    }

    @Test func innerEventUsesMIP02TagOrder() throws {
        let (lab, newcomer, welcome) = try self.invitation()
        let rumor = welcome.rumor
        #expect(rumor.kind == 444 && rumor.pubkey == lab.keys[0].publicKey && rumor.createdAt == lab.now)
        #expect(
            rumor.tags.map(\.values) == [
                ["relays"] + Lab.relays, ["e", newcomer.invitee.event.hex], ["client", Lab.client],
                ["encoding", "base64"],
            ])
        #expect(rumor.content.hasPrefix("AAEAAw"))
        let read = try WelcomeEvents.read(rumor)
        #expect(read.inviter == lab.keys[0].publicKey && read.relays.map(\.string) == Lab.relays)
    }

    @Test func inviteesShareContentWithOwnETag() throws {
        var lab = try Lab(2)
        let newcomers = [try lab.newcomer(), try lab.newcomer()]
        let welcomes = try lab.change(.add(newcomers.map(\.invitee)), by: 0)
        #expect(welcomes.map(\.recipient) == newcomers.map(\.keys.publicKey))
        #expect(Set(welcomes.map(\.rumor.content)).count == 1)
        #expect(welcomes.map { $0.rumor.firstTag("e")?.value } == newcomers.map { $0.invitee.event.hex })
    }

    @Test func acceptsTagsInAnyOrder() throws {
        var (_, newcomer, welcome) = try self.invitation()
        var rumor = welcome.rumor
        rumor.tags.reverse()
        welcome = DueWelcome(recipient: welcome.recipient, rumor: rumor)
        #expect(try Lab.join(newcomer, welcome).epoch == 2)
    }

    @Test func namesMissingOrDamagedTag() throws {
        let rumor = try self.invitation().welcome.rumor
        for encodings in [[], [[]], [["BASE64"]], [["hex"]], [["base64"], ["hex"]]] {
            expectError(.badTag, "encoding") { _ = try WelcomeEvents.read(self.with(rumor, "encoding", encodings)) }
        }
        for events in [[], [[]], [[""]]] {
            expectError(.badTag, "tag e") { _ = try WelcomeEvents.read(self.with(rumor, "e", events)) }
        }
        for relays in [
            [], [[]], [["http://relay.example"]], [["wss://a.example", "x"]], [["wss://a.example"], ["x"]],
        ] {
            expectError(.badTag, "relays") { _ = try WelcomeEvents.read(self.with(rumor, "relays", relays)) }
        }
        expectError(.badTag, "client") { _ = try WelcomeEvents.read(self.with(rumor, "client", [[""]])) }
        expectError(.badTag, "client") { _ = try WelcomeEvents.read(self.with(rumor, "client", [[]])) }
        _ = try WelcomeEvents.read(self.with(rumor, "client", []))
        _ = try WelcomeEvents.read(self.with(rumor, "encoding", [["base64"], ["base64"]]))
    }

    @Test func refusesOtherKindsAndContent() throws {
        let (lab, newcomer, welcome) = try self.invitation()
        var rumor = welcome.rumor
        rumor.kind = 445
        expectError(.wrongKind) { _ = try WelcomeEvents.read(rumor) }
        rumor = welcome.rumor
        for content in ["AAEAA", "\(rumor.content) "] {
            rumor.content = content
            expectError(.badContent) { _ = try WelcomeEvents.read(rumor) }
        }
        rumor.content = Base64.encode(MLSMessage.keyPackage(newcomer.bundle.keyPackage).tlsEncoded())
        expectError(.badContent, "not a Welcome") { _ = try WelcomeEvents.read(rumor) }
        let bytes = try #require(Base64.decode(welcome.rumor.content))
        rumor.content = Base64.encode(bytes + [0])
        expectError(.mls, "follow after the end") { _ = try WelcomeEvents.read(rumor) }
        // Without its MLSMessage header, as MIP-02's text could be read.
        rumor.content = Base64.encode(Array(bytes.dropFirst(4)))
        expectError(.mls) { _ = try WelcomeEvents.read(rumor) }
        #expect(lab.groups[0].epoch == 2)
    }

    @Test func refusesWelcomeForAnotherKeyPackage() throws {
        var (lab, newcomer, welcome) = try self.invitation()
        let bundle = try KeyPackageEvents.makeBundle(for: newcomer.keys.publicKey, now: lab.now, using: &lab.rng)
        let invitation = try WelcomeEvents.read(welcome.rumor)
        expectError(.notForUs) {
            _ = try MarmotGroup.join(invitation, with: bundle, account: newcomer.keys.publicKey)
        }
        expectError(.identityMismatch) {
            _ = try MarmotGroup.join(invitation, with: newcomer.bundle, account: lab.keys[0].publicKey)
        }
        welcome = DueWelcome(recipient: welcome.recipient, rumor: welcome.rumor)
        #expect(try Lab.join(newcomer, welcome).isActive)
    }

    @Test func refusesInviterWithoutAdminRole() throws {
        var (lab, newcomer, welcome) = try self.invitation()
        let stranger = KeyPair.generate(using: &lab.rng).publicKey
        for inviter in [lab.keys[1].publicKey, stranger, newcomer.keys.publicKey] {
            var rumor = welcome.rumor
            rumor.pubkey = inviter
            expectError(.notAdmin) {
                _ = try Lab.join(newcomer, DueWelcome(recipient: welcome.recipient, rumor: rumor))
            }
        }
    }

    @Test func refusesGroupWithoutGroupData() throws {
        var lab = try Lab(1)
        let newcomer = try lab.newcomer()
        let founder = try lab.newcomer()
        let plain = try MLSGroup.create(groupID: [1], member: founder.bundle, using: &lab.rng)
        var request = CommitRequest()
        request.adding = [newcomer.invitee.keyPackage]
        var group = plain
        let welcome = try #require(try group.commit(request, using: &lab.rng).welcome)
        let rumor = WelcomeEvents.rumor(
            welcome, keyPackageEvent: newcomer.invitee.event, relays: [try RelayURL(Lab.relays[0])], client: "c",
            from: founder.keys.publicKey, now: lab.now)
        expectError(.badGroupData) {
            _ = try Lab.join(newcomer, DueWelcome(recipient: newcomer.keys.publicKey, rumor: rumor))
        }
    }

    @Test func refusesDamagedWelcome() throws {
        let (_, newcomer, welcome) = try self.invitation()
        var bytes = try #require(Base64.decode(welcome.rumor.content))
        bytes[bytes.count - 1] ^= 1
        var rumor = welcome.rumor
        rumor.content = Base64.encode(bytes)
        expectError(.mls) { _ = try Lab.join(newcomer, DueWelcome(recipient: welcome.recipient, rumor: rumor)) }
    }
}

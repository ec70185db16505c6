import LiveTesting
import Nostr
import Testing

@testable import Marmot

struct AppContentTests {
    private static let ids = ["a", "b", "c"].map { String(repeating: $0, count: 64) }
    private let author: PublicKey
    private let other: PublicKey

    init() {
        var rng = SplitMix64(seed: 1)
        self.author = KeyPair.generate(using: &rng).publicKey
        self.other = KeyPair.generate(using: &rng).publicKey
    }

    private func id(_ index: Int = 0) throws -> EventID { try EventID(hex: Self.ids[index]) }

    private func read(_ kind: Kind, _ content: String, _ tags: [[String]] = []) throws -> AppContent {
        try AppContent(
            UnsignedEvent(
                pubkey: self.author, createdAt: 1, kind: kind, tags: tags.map { Tag(values: $0) }, content: content))
    }

    private func refused(
        _ kind: Kind, _ content: String, _ tags: [[String]] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        expectError(.badRumor, sourceLocation: sourceLocation) { _ = try self.read(kind, content, tags) }
    }

    private func chat(_ content: AppContent) throws -> ChatContent {
        guard case .chat(let message) = content else { throw MarmotError(.wrongKind, "\(content)") }
        return message
    }

    // MARK: Chat

    @Test func repliesNameTheirTargetTwice() throws {
        let event = try AppMessages.chat(
            "hi", mentions: [self.other, self.author, self.other], replyTo: self.id(), by: self.author, now: 7)
        #expect(
            event.tags.map(\.values) == [
                ["e", Self.ids[0]], ["q", Self.ids[0]], ["p", self.other.hex], ["p", self.author.hex],
            ])
        let message = try self.chat(AppContent(event))
        #expect(try message.text == "hi" && message.replyTo == self.id())
        #expect(message.mentions == [self.other, self.author] && !message.endsStream)
    }

    @Test func repliesAreReadByEitherTag() throws {
        for tags in [[["q", Self.ids[0]]], [["e", Self.ids[0]]], [["e", Self.ids[1]], ["q", Self.ids[0]]]] {
            #expect(try self.chat(self.read(9, "hi", tags)).replyTo == self.id())
        }
        #expect(try self.chat(self.read(9, "hi", [["q", "x"]])).replyTo == nil)
    }

    @Test func invalidFilesSpoilOnlyThemselves() throws {
        let attachment = try AttachmentReferenceTests.example()
        let event = try AppMessages.chat("", attachments: [attachment, attachment], by: self.author, now: 7)
        #expect(try self.chat(AppContent(event)).attachments == [attachment, attachment])
        let mixed = try self.chat(
            self.read(9, "text", [["imeta", "v x"], attachment.tag.values, ["imeta"], ["imeta", "url y"]]))
        #expect(mixed.attachments == [attachment] && mixed.unusableAttachments == 3 && mixed.text == "text")
    }

    @Test func finalStreamMessagesAreChats() throws {
        let message = try self.chat(
            self.read(9, "whole text", [["stream", "ab"], ["stream-start", Self.ids[0]], ["stream-chunks", "3"]]))
        #expect(message.endsStream && message.text == "whole text")
    }

    @Test func refusesEmptyMessages() throws {
        expectError(.badRumor) { _ = try AppMessages.chat(" \n", by: self.author, now: 1) }
        let attachment = try AttachmentReferenceTests.example()
        expectError(.badRumor) {
            _ = try AppMessages.chat("", replyTo: self.id(), attachments: [attachment], by: self.author, now: 1)
        }
    }

    // MARK: Reactions, deletions, edits

    @Test func reactionsAreShortAndTrimmed() throws {
        let event = try AppMessages.reaction("👍🏽", to: self.id(), by: self.author, now: 7)
        #expect(event.kind == 7 && event.tags.map(\.values) == [["e", Self.ids[0]]])
        #expect(try AppContent(event) == .reaction("👍🏽", to: self.id()))
        _ = try self.read(7, String(repeating: "x", count: 64), [["e", Self.ids[0]]])
        for text in ["", " ", " x", "x\n", "a\u{7}b", String(repeating: "x", count: 65)] {
            self.refused(7, text, [["e", Self.ids[0]]])
            expectError(.badRumor) { _ = try AppMessages.reaction(text, to: self.id(), by: self.author, now: 1) }
        }
        self.refused(7, "x")
        self.refused(7, "x", [["e", "00"]])
    }

    @Test func deletionsNameTargets() throws {
        let event = try AppMessages.deletion(of: [self.id(0), self.id(1)], by: self.author, now: 7)
        #expect(event.kind == 5 && event.content.isEmpty)
        #expect(try AppContent(event) == .deletion([self.id(0), self.id(1)]))
        #expect(try self.read(5, "", [["e", "x"], ["e", Self.ids[1]]]) == .deletion([self.id(1)]))
        self.refused(5, "")
        self.refused(5, "", [["e"]])
        expectError(.badRumor) { _ = try AppMessages.deletion(of: [], by: self.author, now: 1) }
    }

    @Test func editsReplaceOneText() throws {
        let event = try AppMessages.edit("new", of: self.id(), mentions: [self.other], by: self.author, now: 7)
        #expect(event.kind == 1009 && event.tags.map(\.values) == [["e", Self.ids[0]], ["p", self.other.hex]])
        #expect(try AppContent(event) == .edit("new", of: self.id(), mentions: [self.other]))
        self.refused(1009, " ", [["e", Self.ids[0]]])
        self.refused(1009, "x", [["e", Self.ids[0]], ["e", Self.ids[1]]])
        self.refused(1009, "x")
        expectError(.badRumor) { _ = try AppMessages.edit("", of: self.id(), by: self.author, now: 1) }
    }

    // MARK: Moderation

    @Test func reportsNameMessageAuthorAndReason() throws {
        let report = MessageReport(
            of: try self.id(), by: self.other, reason: "spam", revision: try self.id(1), text: "look")
        let event = AppMessages.report(report, by: self.author, now: 7)
        #expect(
            event.tags.map(\.values) == [
                ["e", Self.ids[0], "spam"], ["p", self.other.hex], ["revision", Self.ids[1]],
            ])
        #expect(try AppContent(event) == .report(report))
        self.refused(1984, "", [["e", Self.ids[0]], ["p", self.other.hex]])
        self.refused(1984, "", [["e", Self.ids[0], "spam"]])
        self.refused(1984, "", [["p", self.other.hex]])
    }

    @Test func dismissalsListSortedReports() throws {
        let event = try AppMessages.dismissal(of: [self.id(2), self.id(0), self.id(1)], by: self.author, now: 7)
        let labels = [
            ["L", "marmot.report-review.v1"], ["l", "dismissed", "marmot.report-review.v1"],
        ]
        let targets = Self.ids.map { ["e", $0] }
        #expect(event.tags.map(\.values) == labels + targets)
        #expect(try AppContent(event) == .dismissal([self.id(0), self.id(1), self.id(2)]))
        self.refused(1985, "", targets)
        self.refused(1985, "", labels)
        self.refused(1985, "x", labels + targets)
        self.refused(1985, "", labels + targets.reversed())
        self.refused(1985, "", labels + [targets[0], targets[0]])
        self.refused(1985, "", labels + [labels[0]] + targets)
        expectError(.badRumor) { _ = try AppMessages.dismissal(of: [], by: self.author, now: 1) }
        let many = try Set((0..<101).map { try EventID(bytes: [UInt8](repeating: UInt8($0), count: 32)) })
        expectError(.badRumor, "found 101") { _ = try AppMessages.dismissal(of: many, by: self.author, now: 1) }
    }

    @Test func adminDeletionsHaveExactContent() throws {
        let event = AppMessages.adminDeletion(of: try self.id(), by: self.author, now: 7)
        #expect(event.kind == 4891 && event.content == #"{"v":1,"action":"remove"}"#)
        #expect(try AppContent(event) == .adminDeletion(self.id()))
        for content in ["", "{}", #"{"action":"remove","v":1}"#, #"{"v":1, "action":"remove"}"#] {
            self.refused(4891, content, [["e", Self.ids[0]]])
        }
        self.refused(4891, event.content, [["e", Self.ids[0]], ["e", Self.ids[1]]])
        self.refused(4891, event.content)
    }

    // MARK: Other kinds

    @Test func otherKindsAreNeverErrors() throws {
        let expected: [(Kind, AppContent)] = [
            (1068, .poll), (1018, .pollVote), (1200, .agentStream), (1201, .agentEvent), (1202, .agentEvent),
            (1210, .systemRow), (447, .push), (448, .push), (449, .push), (450, .template), (451, .template),
            (461, .unknown), (0, .unknown), (65535, .unknown),
        ]
        for (kind, content) in expected { #expect(try self.read(kind, "\u{0}{") == content, "\(kind)") }
    }

    @Test func systemRowMatchesThePublishedVector() throws {
        let actor = try PublicKey(hex: "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
        let event = SystemRow.disbanded.event(by: actor, at: 1_700_000_000)
        #expect(event.id.hex == "126e47076e4d0a75ed260b279c33ed433acd764fc80e2de2e0315a64116d1f52")
        let renamed = SystemRow.renamed(to: "b", from: "a").event(by: actor, at: 1)
        #expect(
            renamed.content
                == #"{"v":1,"system_type":"group_renamed","text":"Group renamed","data":{"actor":""# + actor.hex
                + #"","name":"b","old_name":"a"}}"#)
        let endless = SystemRow.retentionChanged(to: .max, from: 0).event(by: actor, at: 1)
        #expect(endless.content.contains(#""new_retention_seconds":9223372036854775807"#))
        #expect(SystemRow.memberAdded(self.other).event(by: actor, at: 1).content.contains(self.other.hex))
    }
}

import BotKit
import Nostr
import Testing

@testable import PikaCore

private let target = eventID(0x77)

private func accepts(_ declaration: some HandlerDeclaration, _ message: MessageEvent) -> Bool {
    declaration.handler.accept(.event(coreEvent(1, .message(message))), scope()) != nil
}

/// Typed views of the second generation's kinds.
struct MessageViewTests {
    @Test func readsEdit() throws {
        let message = messageEvent("better", kind: .edit, tags: [.event(target), .user(key("c"))])
        let edit = try #require(MessageEdit(message))
        #expect(edit.target == target && edit.text == "better" && edit.mentions == [key("c")])
        #expect(accepts(OnEdit { _, _, _ in }, message))
    }

    @Test func refusesMalformedEdits() {
        #expect(MessageEdit(messageEvent(" ", kind: .edit, tags: [.event(target)])) == nil)
        #expect(MessageEdit(messageEvent("text", kind: .edit)) == nil)
        #expect(MessageEdit(messageEvent("text", tags: [.event(target)])) == nil)
        #expect(!accepts(OnEdit { _, _, _ in }, messageEvent("text", kind: .edit)))
    }

    @Test func adminDeletionNeedsAdmin() throws {
        let json = #"{"v":1,"action":"remove"}"#
        let byMember = messageEvent(json, kind: .adminDeletion, tags: [.event(target)])
        let byAdmin = messageEvent(json, kind: .adminDeletion, tags: [.event(target)], role: .admin)
        #expect(MessageDeletion(byMember) == nil && !accepts(OnDeletion { _, _, _ in }, byMember))
        let deletion = try #require(MessageDeletion(byAdmin))
        #expect(deletion.targets == [target] && deletion.isByAdmin)
    }

    @Test func ownDeletionNeedsNoRole() throws {
        let message = messageEvent("", kind: .deletion, tags: [.event(target), .event(eventID(2))], role: nil)
        let deletion = try #require(MessageDeletion(message))
        #expect(deletion.targets == [target, eventID(2)] && !deletion.isByAdmin)
    }

    @Test func readsReport() throws {
        let tags = [Tag("e", target.hex, "spam"), .user(key("c")), Tag("revision", eventID(3).hex)]
        let message = messageEvent("again", kind: .report, tags: tags)
        let report = try #require(ReportedMessage(message))
        #expect(report.message == target && report.author == key("c") && report.reason == "spam")
        #expect(report.revision == eventID(3) && report.text == "again")
        #expect(accepts(OnReport { _, _, _ in }, message))
    }

    @Test func dismissalNeedsAdmin() {
        let tags = [
            Tag("L", "marmot.report-review.v1"), Tag("l", "dismissed", "marmot.report-review.v1"), .event(target),
        ]
        #expect(ReportDismissal(messageEvent("", kind: .reportDismissal, tags: tags)) == nil)
        let byAdmin = messageEvent("", kind: .reportDismissal, tags: tags, role: .admin)
        #expect(ReportDismissal(byAdmin)?.reports == [target])
    }

    @Test func readsPoll() throws {
        let tags = [
            Tag("option", "a", "Tea"), Tag("option", "b"), Tag("option", "a", "again"),
            Tag("polltype", "multiplechoice"), Tag("endsAt", "1700000100"),
        ]
        let message = messageEvent("What?", kind: .poll, tags: tags)
        let poll = try #require(Poll(message))
        #expect(poll.question == "What?" && poll.options.map(\.label) == ["Tea", "b"])
        #expect(poll.allowsSeveral && poll.endsAt == 1_700_000_100)
        #expect(accepts(OnPoll { _, _, _ in }, message))
        #expect(Poll(messageEvent("What?", kind: .poll)) == nil)
    }

    @Test(arguments: [(true, ["a", "b"]), (false, ["b"])])
    func countsOfferedChoices(allowsSeveral: Bool, expected: [String]) throws {
        let type = allowsSeveral ? "multiplechoice" : "singlechoice"
        let options = [Tag("option", "a", "Tea"), Tag("option", "b", "Coffee")]
        let poll = try #require(Poll(messageEvent("?", kind: .poll, tags: options + [Tag("polltype", type)])))
        let responses = ["x", "b", "b", "a"].map { Tag("response", $0) }
        let message = messageEvent("", kind: .pollVote, tags: [.event(target)] + responses)
        let vote = try #require(PollVote(message))
        #expect(vote.poll == target && vote.choices == ["x", "b", "a"])
        #expect(vote.options(of: poll).map(\.id).sorted() == expected)
        #expect(accepts(OnVote { _, _, _ in }, message))
    }

    @Test func lateVotesDoNotCount() throws {
        // Messages of the fixture are of 1,700,000,000.
        let tags = [Tag("option", "a"), Tag("endsAt", "1699999999")]
        let poll = try #require(Poll(messageEvent("?", kind: .poll, tags: tags)))
        let responses = [Tag.event(target), Tag("response", "a")]
        let vote = try #require(PollVote(messageEvent("", kind: .pollVote, tags: responses)))
        #expect(vote.options(of: poll).isEmpty)
    }

    @Test func endOfStreamIsChat() throws {
        let end = messageEvent("whole text", tags: [Tag("stream", "aa"), Tag("stream-chunks", "3")])
        #expect(AgentStream(end)?.isComplete == true && accepts(OnMessage { _, _ in }, end))
        let start = messageEvent("", kind: .agentStreamStart, tags: [Tag("stream", "aa")])
        #expect(AgentStream(start)?.isComplete == false && !accepts(OnMessage { _, _ in }, start))
        #expect(AgentStream(messageEvent("text")) == nil)
    }

    @Test func handlesBothEndsOfStream() {
        let stream = OnAgentStream { _, _, _ in }
        let start = messageEvent("", kind: .agentStreamStart, tags: [Tag("stream", "aa")])
        #expect(accepts(stream, start) && accepts(stream, messageEvent("text", tags: [Tag("stream", "aa")])))
        #expect(!accepts(stream, messageEvent("text")) && !accepts(stream, messageEvent("", kind: .agentStreamStart)))
    }

    @Test(arguments: [Kind.edit, .poll, .pollVote, .agentStreamStart, .groupSystem, .report, .adminDeletion])
    func kindsOfMarmotAreKnown(kind: Kind) {
        #expect(!accepts(OnUnknownKind { _, _ in }, messageEvent("", kind: kind)))
    }
}

/// Replies in the form of the group's generation.
struct ReplyFormTests {
    private func chat(_ generation: GroupGeneration) -> AppState.ChatSummary {
        var chat = chatSummary("c1", isGroup: true)
        chat.generation = generation
        return chat
    }

    @Test func replyNamesTargetTwiceInV2() {
        let message = messageEvent("hello")
        let reply = OutgoingMessage.reply("hi", to: message, in: chat(.v2))
        #expect(
            reply.tags == [.event(message.id), Tag("q", message.id.hex), .user(message.sender)]
                && reply.kind == .chatMessage)
    }

    @Test func replyKeepsFormInV1() {
        let message = messageEvent("hello")
        #expect(OutgoingMessage.reply("hi", to: message, in: chat(.v1)) == .text("hi", replyingTo: message))
        #expect(OutgoingMessage.reply("hi", to: message, in: nil) == .text("hi", replyingTo: message))
    }
}

import BotKit
import Foundation
import Testing

@testable import GroupCanaryBot

@Suite struct CanaryLogTests {
    private let here = GroupView(epoch: 1, members: [])
    private var sent = SentLog(series: "aa")
    private var heard = AnswerLog(series: "aa")

    private mutating func send(_ count: Int, from time: Int64 = 0) {
        for number in 0..<count { _ = sent.send(at: time + Int64(number) * 1000, window: 5) }
    }

    private mutating func answer(
        _ number: Int64, at time: Int64, series: String = "aa", view: GroupView? = nil
    ) -> (AnswerLog.Answer, Int64?) {
        heard.record(
            CanaryMessage(series: series, number: number, view: view ?? here), from: "bob", sent: sent, own: here,
            now: time, timeout: 2500)
    }

    @Test mutating func classifiesAnswers() {
        send(3)
        #expect(answer(1, at: 100) == (.inOrder, 100))
        #expect(answer(3, at: 2100) == (.inOrder, 100))
        #expect(answer(2, at: 2200) == (.outOfOrder, 1200))
        #expect(answer(2, at: 2300) == (.duplicate, nil))
        #expect(answer(4, at: 2300) == (.strange, nil))
        #expect(answer(1, at: 2300, series: "bb") == (.strange, nil))
        let bob = heard.mirrors["bob"]
        #expect(bob?.disorder == 1 && bob?.duplicates == 1 && bob?.answered == [1, 3, 2])
        send(1, from: 3000)
        #expect(answer(4, at: 5501) == (.late, nil))
        #expect(heard.mirrors["bob"]?.answered.contains(4) == true)
    }

    @Test mutating func keepsOnlyTheWindow() {
        for number in 0..<20 {
            send(1, from: Int64(number) * 1000)
            _ = answer(Int64(number) + 1, at: Int64(number) * 1000 + 1)
        }
        #expect(sent.latest.map(\.number) == [16, 17, 18, 19, 20])
        #expect(heard.mirrors["bob"]?.answered.count == 5)
        #expect(answer(1, at: 21_000) == (.strange, nil))
        #expect(sent.overdue(at: 19_000, timeout: 2500) == [16, 17])
    }

    @Test mutating func remembersDifferencesUntilTheyEnd() {
        send(5)
        let there = GroupView(epoch: 2, members: [])
        _ = answer(1, at: 10, view: there)
        _ = answer(2, at: 1010, view: there)
        #expect(heard.mirrors["bob"]?.differsSince == 10)
        _ = answer(3, at: 2010)
        #expect(heard.mirrors["bob"]?.differsSince == nil)
    }

    /// A difference lasts until the last answer that has it: time without an answer does not count.
    @Test mutating func ignoresMomentaryDifferences() throws {
        send(5)
        let there = GroupView(epoch: 2, members: [])
        _ = answer(1, at: 10, view: there)
        #expect(heard.mirrors["bob"]?.difference == 0)
        _ = answer(2, at: 1010, view: there)
        #expect(heard.mirrors["bob"]?.difference == 1000)
        _ = answer(3, at: 2010)
        #expect(heard.mirrors["bob"]?.difference == 0)
        // The stored form of earlier versions, without the latest answer.
        let old = Data(
            #"{"answered":[],"highest":0,"disorder":0,"duplicates":0,"differsSince":5}"#.utf8)
        #expect(try JSONDecoder().decode(AnswerLog.Mirror.self, from: old).difference == 0)
    }

    @Test mutating func newSeriesResetsTheLog() {
        send(2)
        _ = answer(1, at: 10)
        sent = SentLog(series: "bb")
        send(1, from: 5000)
        #expect(answer(1, at: 5100, series: "bb") == (.inOrder, 100))
        #expect(heard.series == "bb" && heard.mirrors["bob"]?.answered == [1])
    }

    @Test func comparesMembersRegardlessOfOrder() {
        var generator = SystemRandomNumberGenerator()
        let (one, two) = (KeyPair.generate(using: &generator).publicKey, KeyPair.generate(using: &generator).publicKey)
        #expect(GroupView(epoch: 1, members: [one, two]) == GroupView(epoch: 1, members: [two, one]))
        #expect(GroupView(epoch: 1, members: [one]) != GroupView(epoch: 1, members: [two, one]))
        #expect(GroupView(epoch: 1, members: [one]) != GroupView(epoch: 2, members: [one]))
    }

    @Test func refusesHostileCanaries() throws {
        let good = CanaryMessage(series: "aa", number: 7, view: here)
        #expect(CanaryMessage(content: try good.content) == good)
        let bad = [
            "", "{", "[]", "7", "null", #"{"series":"aa","number":7}"#,
            #"{"series":"aa","number":0,"view":{"epoch":1,"members":"a"}}"#,
            #"{"series":"aa","number":-7,"view":{"epoch":1,"members":"a"}}"#,
            #"{"series":"","number":7,"view":{"epoch":1,"members":"a"}}"#,
            #"{"series":"aa","number":7,"view":{"epoch":-1,"members":"a"}}"#,
            #"{"series":"aa","number":99999999999999999999,"view":{"epoch":1,"members":"a"}}"#,
            #"{"series":"aaaaaaaaaaaaaaaaa","number":7,"view":{"epoch":1,"members":"a"}}"#,
            #"{"series":"aa","number":7,"view":{"epoch":1,"members":"\#(String(repeating: "a", count: 17))"}}"#,
            try good.content + String(repeating: " ", count: 600),
        ]
        for text in bad { #expect(CanaryMessage(content: text) == nil, "\(text.prefix(80))") }
    }
}

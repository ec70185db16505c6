import LiveTesting
import Testing

@testable import FeedRules
@testable import Feeds

struct StreamIDsTests {
    private func ids(_ field: String?, seed: UInt64 = 1) -> StreamIDs {
        var random = SplitMix64(seed: seed)
        return StreamIDs(field: field, using: &random)
    }

    @Test func readsIDOfItem() {
        var ids = ids("id")
        #expect(ids.next(Array(#"{"id":"a"}"#.utf8)) == "a")
        #expect(ids.next(Array(#"{"id":-7}"#.utf8)) == "-7")
    }

    @Test(arguments: ["", "x", "[]", #"{"id":null}"#, #"{"id":""}"#, #"{"id":{}}"#, #"{"other":1}"#])
    func itemWithoutIDGetsUniqueOne(text: String) {
        var ids = ids("id")
        let found = Set((0..<3).map { _ in ids.next(Array(text.utf8)) })
        #expect(found.count == 3)
        var others = self.ids("id", seed: 2)
        let other = others.next(Array(text.utf8))
        #expect(!found.contains(other))
    }

    @Test func prefersIDOfItemOverGiven() {
        var ids = ids("id")
        #expect(ids.next(Array(#"{"id":"a"}"#.utf8), given: "b") == "a")
        #expect(ids.next([], given: "b") == "b")
    }

    @Test func shortensLongIDs() {
        var ids = ids(nil)
        let long = String(repeating: "x", count: 513)
        let found = ids.next([], given: long)
        let again = ids.next([], given: long)
        #expect(found.utf8.count == 64 && found == again)
    }
}

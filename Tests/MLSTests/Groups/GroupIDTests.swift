import MLS
import Testing

@Suite struct GroupIDTests {
    @Test func hexRoundTrips() {
        for bytes in [[], [0], [255, 16, 1], Array(0...255)] as [[UInt8]] {
            let id = GroupID(bytes)
            #expect(GroupID(hex: id.hex) == id && GroupID(hex: id.hex.uppercased()) == id)
            #expect(id.hex.utf8.count == 2 * bytes.count && id.description == id.hex)
        }
        #expect(GroupID([0x0a, 0xf0]).hex == "0af0")
        for text in ["0", "0g", "0 ", "é", "-1"] { #expect(GroupID(hex: text) == nil, "\(text)") }
    }

    @Test func ordersByBytes() {
        let ids: [GroupID] = [[], [0], [0, 1], [1], [1, 0], [255]]
        #expect(ids.shuffled().sorted() == ids)
    }
}

import LoadReport
import Testing

@Suite struct RecorderTests {
    @Test func nothingYet() { #expect(LoadOperation.join.name == "join") }
}

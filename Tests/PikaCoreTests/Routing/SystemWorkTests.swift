import MLS
import Testing

@testable import PikaCore

@Suite struct SystemWorkTests {
    @Test func workRunsEachPieceOnce() {
        let work = SystemWork()
        #expect(work.width >= 1 && SystemWork(width: 0).width == 1)
        let squares: [Int] = work.map(100) { (index: Int) -> Int in index * index }
        #expect(squares == (0..<100).map { $0 * $0 })
        let none: [Int] = work.map(0) { (index: Int) -> Int in index }
        #expect(none.isEmpty)
    }
}

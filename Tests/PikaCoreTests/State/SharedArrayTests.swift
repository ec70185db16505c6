import LiveTesting
import Testing

@testable import PikaCore

/// Compared with `Array`, whose behaviour is the reference.
@Suite struct SharedArrayTests {
    @Test(arguments: 0..<8)
    func behavesLikeArray(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var array: [Int] = []
        var shared: SharedArray<Int> = []
        var copies: [([Int], SharedArray<Int>)] = []
        for step in 0..<1500 {
            let place = Int.random(in: 0...array.count, using: &random)
            let end = Int.random(in: place...min(array.count, place + 200), using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0...2:
                array.append(step)
                shared.append(step)
            case 3, 4:
                array.insert(step, at: place)
                shared.insert(step, at: place)
            case 5 where place < array.count:
                #expect(array.remove(at: place) == shared.remove(at: place))
            case 6 where place < array.count, 7 where place < array.count:
                array[place] = -step
                shared[place] = -step
            case 8:
                let new = Array(step..<step + Int.random(in: 0..<300, using: &random))
                array.replaceSubrange(place..<end, with: new)
                shared.replaceSubrange(place..<end, with: new)
            case 9:
                array.removeFirst(place / 2)
                shared.removeFirst(place / 2)
            case 10:
                array.removeAll { $0.isMultiple(of: 7) }
                shared.removeAll { $0.isMultiple(of: 7) }
            default: copies.append((array, shared))
            }
            #expect(shared.count == array.count)
        }
        copies.append((array, shared))
        for (array, shared) in copies {
            #expect(Array(shared) == array && shared.elementsEqual(array))
            #expect(array.indices.allSatisfy { shared[$0] == array[$0] })
            #expect(shared == SharedArray(array) && shared.hashValue == SharedArray(array).hashValue)
            #expect(shared.reversed() == array.reversed() && shared.last == array.last)
        }
    }

    @Test func copyKeepsItsElements() {
        var one = SharedArray(0..<1000)
        let two = one
        one[500] = -1
        one.insert(-2, at: 0)
        one.removeLast(300)
        #expect(two.elementsEqual(0..<1000))
        #expect(one != two && one[501] == -1 && one.count == 701)
    }

    @Test func readsLikeArray() {
        let shared: SharedArray<String> = ["a", "b"]
        #expect("\(shared)" == "\(["a", "b"])" && String(reflecting: shared) == String(reflecting: ["a", "b"]))
        #expect(Mirror(reflecting: shared).children.map { "\($0.value)" } == ["a", "b"])
        #expect(shared.filter { $0 > "a" } == ["b"])
        var empty: SharedArray<String> = []
        empty.removeAll()
        empty.replaceSubrange(0..<0, with: ["x"])
        #expect(empty == ["x"])
    }
}

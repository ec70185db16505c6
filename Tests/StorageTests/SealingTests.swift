import Foundation
import MLS
import Testing

@testable import Storage

@Suite struct SealingTests {
    @Test func sealedValuesAreBoundToTheirPlace() throws {
        let sealer = Sealer(try TemporaryDirectory.key, database: 1)
        let place = Place(.header, [1, 2])
        for count in [0, 1, 15, 16, 1000] {
            let value = Sample.bytes(count, count: count)
            let sealed = sealer.seal(value, in: place)
            #expect(sealed.count == count + 40)
            #expect(sealed != sealer.seal(value, in: place))
            #expect(try sealer.openBytes(sealed, in: place) == value)
            #expect(try sealer.openSecret(sealed, in: place) == Secret(value))
            let wrong: [(Sealer, Place)] = [
                (sealer, Place(.header, [1])), (sealer, Place(.groupID, [1, 2])),
                (Sealer(try TemporaryDirectory.key, database: 2), place),
                (Sealer(SealingKey.random(), database: 1), place),
            ]
            for (sealer, place) in wrong {
                #expect(throws: StoreError(.corrupt, "")) { try sealer.openBytes(sealed, in: place) }
                #expect(throws: StoreError(.corrupt, "")) { try sealer.openSecret(sealed, in: place) }
            }
        }
    }

    @Test func detectsEveryChangedBitAndLength() throws {
        let sealer = Sealer(try TemporaryDirectory.key, database: 1)
        let place = Place(.inbox, 1)
        let sealed = sealer.seal([1, 2, 3], in: place)
        for index in 0..<sealed.count {
            var changed = sealed
            changed[index] ^= 0x10
            #expect(throws: StoreError(.corrupt, "")) { try sealer.openBytes(changed, in: place) }
            #expect(throws: StoreError(.corrupt, "")) { try sealer.openBytes(sealed.prefix(index), in: place) }
        }
        #expect(throws: StoreError(.corrupt, "")) { try sealer.openBytes(sealed + [0], in: place) }
    }

    /// The form on disk: derived keys, hash and sealing are compared with values from libsodium in another language.
    @Test func sealedFormatIsStable() throws {
        let sealer = Sealer(try SealingKey(bytes: (0..<32).map { UInt8($0) }), database: 0x0102_0304_0506_0708)
        #expect(sealer.lookup("group", [1, 2, 3]) == FixedForm.lookup)
        #expect(try sealer.openBytes(Data(FixedForm.sealed), in: Place(.inbox, 5)) == Array("hello".utf8))
    }

    @Test func lookupsSeparateTheirParts() throws {
        let sealer = Sealer(try TemporaryDirectory.key, database: 1)
        #expect(sealer.lookup("value", [1], [2, 3]) != sealer.lookup("value", [1, 2], [3]))
        #expect(sealer.lookup("value", [1]) != sealer.lookup("group", [1]))
        #expect(sealer.lookup("value", [1]) == sealer.lookup("value", [1]))
    }

    @Test func refusesPartialFields() throws {
        var writer = FieldWriter(capacity: 0)
        writer.integer(Int64(-2))
        try writer.text("é")
        try writer.optional(nil)
        try writer.optional([1])
        #expect(writer.bytes == [255, 255, 255, 255, 255, 255, 255, 254, 0, 0, 0, 2, 0xc3, 0xa9, 0, 1, 0, 0, 0, 1, 1])
        func read(_ bytes: [UInt8]) throws {
            var reader = FieldReader(bytes, Place(.inbox, 1))
            #expect(try reader.integer(Int64.self) == -2)
            #expect(try reader.text() == "é")
            #expect(try reader.optional() == nil)
            #expect(try reader.optional() == [1])
            try reader.finish()
        }
        try read(writer.bytes)
        #expect(throws: StoreError(.corrupt, "")) { try read(writer.bytes + [0]) }
        for (index, byte) in [(8, UInt8(255)), (12, 0xff), (14, 2)] {
            var hostile = writer.bytes
            hostile[index] = byte
            var reader = FieldReader(hostile, Place(.inbox, 1))
            _ = try reader.integer(Int64.self)
            #expect(throws: StoreError(.corrupt, "")) {
                _ = try reader.text()
                _ = try reader.optional()
            }
        }
        for count in 0..<8 {
            var reader = FieldReader(Array(writer.bytes.prefix(count)), Place(.inbox, 1))
            #expect(throws: StoreError(.corrupt, "")) { try reader.integer(Int64.self) }
        }
    }

    @Test func refusesCountsBeyondTheirField() throws {
        var writer = FieldWriter(capacity: 0)
        try writer.count(Int(UInt32.max))
        #expect(writer.bytes == [0xff, 0xff, 0xff, 0xff])
        for count in [Int(UInt32.max) + 1, .max, -1] {
            #expect(throws: StoreError(.invalidChange, "")) { try writer.count(count) }
        }
    }

}

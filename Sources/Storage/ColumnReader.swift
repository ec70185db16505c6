import Foundation
import GRDB

/// Reads the columns of a row in order, and validates their types: GRDB's own conversions trap on a value of another
/// type, which a damaged file may contain.
struct ColumnReader {
    private let row: Row
    private let table: StaticString
    private var index = 0

    init(_ row: Row, table: StaticString) {
        self.row = row
        self.table = table
    }

    mutating func integer() throws(StoreError) -> Int64 {
        guard case .int64(let value) = self.next() else { throw self.corrupt("an integer") }
        return value
    }

    mutating func optionalInteger() throws(StoreError) -> Int64? {
        switch self.next() {
        case .null: nil
        case .int64(let value): value
        case .blob, .double, .string: throw self.corrupt("an integer")
        }
    }

    mutating func text() throws(StoreError) -> String {
        guard case .string(let value) = self.next() else { throw self.corrupt("text") }
        return value
    }

    mutating func data() throws(StoreError) -> Data {
        guard let value = try self.optionalData() else { throw self.corrupt("a blob") }
        return value
    }

    mutating func bytes() throws(StoreError) -> [UInt8] { Array(try self.data()) }

    mutating func optionalData() throws(StoreError) -> Data? {
        switch self.next() {
        case .null: nil
        case .blob(let value): value
        case .int64, .double, .string: throw self.corrupt("a blob")
        }
    }

    private mutating func next() -> DatabaseValue.Storage {
        defer { self.index += 1 }
        guard self.index < self.row.count else { return .null }
        return (self.row[self.index] as DatabaseValue).storage
    }

    private func corrupt(_ wanted: String) -> StoreError {
        let column = self.index > 0 ? Array(self.row.columnNames)[self.index - 1] : ""
        let key = self.row.databaseValues.first.map { "\($0)" } ?? ""
        return StoreError(
            .corrupt,
            "table \(self.table), row \(key): column \(column): expected \(wanted); "
                + "restore the state directory from a backup")
    }
}

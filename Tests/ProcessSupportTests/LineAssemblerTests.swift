import ProcessSupport
import Testing

@Suite struct LineAssemblerTests {
    /// A piece as text.
    private enum Found: Equatable {
        case line(String)
        case tooLong(String)

        init(_ piece: LineAssembler.Piece) {
            switch piece {
            case .line: self = .line(piece.text)
            case .tooLong: self = .tooLong(piece.text)
            }
        }
    }

    private func split(
        _ parts: [String], limit: Int = 10, overlong: LineAssembler.Overlong = .discarded
    ) -> [Found] {
        var assembler = LineAssembler(limit: limit, overlong: overlong)
        var found: [Found] = []
        for part in parts { assembler.append(Array(part.utf8)) { found.append(Found($0)) } }
        assembler.finish { found.append(Found($0)) }
        // The assembler is empty again.
        assembler.finish { found.append(Found($0)) }
        return found
    }

    @Test func assemblesLinesFromPieces() {
        #expect(split(["ab", "c\nd", "\n\n", "e"]) == [.line("abc"), .line("d"), .line(""), .line("e")])
        #expect(split(["zażół\n"]) == [.line("zażół")])
        let text = "one\n\ntwo\r\nthrée"
        let lines: [Found] = [.line("one"), .line(""), .line("two"), .line("thrée")]
        #expect(split([text]) == lines)
        var assembler = LineAssembler(limit: 10)
        var found: [Found] = []
        for byte in text.utf8 { assembler.append([byte]) { found.append(Found($0)) } }
        assembler.finish { found.append(Found($0)) }
        #expect(found == lines)
    }

    @Test func emptyInputHasNoLines() {
        #expect(split([]) == [])
        #expect(split([""]) == [])
        #expect(split(["\n"]) == [.line("")])
    }

    @Test func keepsBytesOfLines() {
        var assembler = LineAssembler(limit: 10)
        var found: [LineAssembler.Piece] = []
        let bytes: [UInt8] = [0xFF, 0x0D, 0x0A]
        assembler.append(bytes) { found.append($0) }
        #expect(found == [.line([0xFF, 0x0D])])
    }

    @Test func reportsOverlongLinesAtOnce() {
        #expect(split(["0123456789\n"]) == [.line("0123456789")])
        #expect(split(["0123456789", "0", "more\nnext\n"]) == [.tooLong(""), .line("next")])
        #expect(split(["0123456789abcdef"]) == [.tooLong("")])
        var assembler = LineAssembler(limit: 2)
        var count = 0
        assembler.append("abc".utf8) { _ in count += 1 }
        #expect(count == 1, "the report must not wait for the end of the line")
    }

    @Test func truncatesOverlongLinesIfAsked() {
        let cut = split(["abcdefgh\nij\n"], limit: 4, overlong: .truncated)
        #expect(cut == [.tooLong("abcd"), .line("ij")])
        let parts = split(["abc", "def", "ghi\nj"], limit: 4, overlong: .truncated)
        #expect(parts == [.tooLong("abcd"), .line("j")])
        #expect(split(["abcd", "e"], limit: 4, overlong: .truncated) == [.tooLong("abcd")])
    }
}

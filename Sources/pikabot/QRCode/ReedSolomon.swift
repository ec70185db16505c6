/// Correction codewords over GF(256) with the polynomial 0x11D (ISO/IEC 18004 §7.5.2).
enum ReedSolomon {
    /// Returns the remainder of the data divided by the generator polynomial of degree `length`.
    static func correction(of data: [UInt8], length: Int) -> [UInt8] {
        let generator = self.generator(length)
        var remainder = [UInt8](repeating: 0, count: length)
        for byte in data {
            let factor = byte ^ remainder[0]
            remainder.removeFirst()
            remainder.append(0)
            for index in 0..<length { remainder[index] ^= multiply(generator[index], factor) }
        }
        return remainder
    }

    /// Returns the coefficients below the leading one, highest first.
    private static func generator(_ length: Int) -> [UInt8] {
        var coefficients = [UInt8](repeating: 0, count: length)
        coefficients[length - 1] = 1
        var root: UInt8 = 1
        for _ in 0..<length {
            for index in 0..<length {
                coefficients[index] = multiply(coefficients[index], root)
                if index + 1 < length { coefficients[index] ^= coefficients[index + 1] }
            }
            root = multiply(root, 2)
        }
        return coefficients
    }

    static func multiply(_ left: UInt8, _ right: UInt8) -> UInt8 {
        var product: UInt8 = 0
        for bit in (0..<8).reversed() {
            product = product << 1 ^ (product & 0x80 == 0 ? 0 : 0x1d)
            if right >> bit & 1 == 1 { product ^= left }
        }
        return product
    }
}

import Testing

@testable import MLS

/// HMAC by RFC 4231, HKDF by RFC 5869.
struct HashVectors {
    @Test(arguments: [
        (HashAlgorithm.sha256, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
        (
            .sha384,
            "afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6"
        ),
        (
            .sha512,
            "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cde"
                + "daa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854"
        ),
    ])
    func rfc4231Case1(_ hash: HashAlgorithm, _ expected: String) {
        let key = Secret(repeatElement(0x0B, count: 20))
        #expect(hex(hash.hmac(key: key, Array("Hi There".utf8))) == expected)
    }

    @Test func rfc4231Case6HashesLongKeyFirst() {
        let key = Secret(repeatElement(0xAA, count: 131))
        let text = Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
        #expect(
            hex(HashAlgorithm.sha256.hmac(key: key, text))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test func rfc5869Case1() {
        let prk = HashAlgorithm.sha256.extract(
            salt: Secret(0...0x0C), inputKeyMaterial: Secret(repeatElement(0x0B, count: 22)))
        #expect(hex(prk.copyBytes()) == "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5")
        let output = HashAlgorithm.sha256.expand(prk, info: Array(0xF0...0xF9), length: 42)
        #expect(
            hex(output.copyBytes())
                == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865")
    }

    @Test func rfc5869Case2ExpandsSeveralBlocks() {
        let prk = HashAlgorithm.sha256.extract(salt: Secret(0x60...0xAF), inputKeyMaterial: Secret(0x00...0x4F))
        let output = HashAlgorithm.sha256.expand(prk, info: Array(0xB0...0xFF), length: 82)
        #expect(
            hex(output.copyBytes())
                == "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c"
                + "59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71"
                + "cc30c58179ec3e87c14c01d5c1f3434f1d87")
    }
}
